import { signal } from '@preact/signals-core'
import { html, nothing, type TemplateResult } from 'lit-html'
import { sentenceFor } from '../api/client.ts'
import { browseTags, type Level, listHistorians } from '../api/tags.ts'
import { foundRow, moveInList } from './found-list.ts'

const historians = signal<readonly string[] | null>(null)
/** What is directly below a historian and a beginning of names, as far as it was read. */
const levels = signal<ReadonlyMap<string, Level>>(new Map())
const open = signal<ReadonlySet<string>>(new Set())
const problem = signal('')

/** Forgets what it read, for another key. */
export function clearTree(): void {
  historians.value = null
  levels.value = new Map()
  open.value = new Set()
}

/** Tags as a tree: names are taken apart at `.`, `/` and `_`. */
export function tree() {
  if (historians.value === null) queueMicrotask(() => void start())
  return html`
    ${problem.value === '' ? nothing : html`<p class="error" role="alert">${problem.value}</p>`}
    <ul class="tree found" @keydown=${moveInList}>
      ${historians.value?.map((name) => node(name, '', name))}
    </ul>`
}

async function start(): Promise<void> {
  if (historians.value !== null) return
  historians.value = []
  await attempt(async () => {
    const names = await listHistorians()
    historians.value = names
    if (names.length === 1) await toggle(names[0]!, '')
  })
}

async function attempt(task: () => Promise<void>): Promise<void> {
  try {
    problem.value = ''
    await task()
  } catch (error) {
    problem.value = sentenceFor(error)
  }
}

async function toggle(historian: string, prefix: string): Promise<void> {
  const path = `${historian}/${prefix}`
  const isOpen = open.value.has(path)
  const next = new Set(open.value)
  if (isOpen) next.delete(path)
  else next.add(path)
  open.value = next
  if (!isOpen && !levels.value.has(path)) await load(historian, prefix)
}

async function load(historian: string, prefix: string): Promise<void> {
  const path = `${historian}/${prefix}`
  const known = levels.value.get(path)
  const { branches, tags, next } = await browseTags(historian, prefix, known?.next ?? '')
  const level = {
    branches: [...(known?.branches ?? []), ...branches],
    tags: [...(known?.tags ?? []), ...tags],
    ...(next !== undefined && { next }),
  }
  levels.value = new Map(levels.value).set(path, level)
}

function node(historian: string, prefix: string, label: string): TemplateResult {
  const path = `${historian}/${prefix}`
  const isOpen = open.value.has(path)
  return html`<li>
    <button class="branch" aria-expanded=${isOpen} @click=${() => attempt(() => toggle(historian, prefix))}>
      <span class="twist" aria-hidden="true"></span><bdi>${label}</bdi>
    </button>
    ${isOpen ? html`<ul>${children(historian, prefix)}</ul>` : nothing}
  </li>`
}

function children(historian: string, prefix: string) {
  const level = levels.value.get(`${historian}/${prefix}`)
  if (level === undefined) return html`<li class="quiet">Reading …</li>`
  return html`
    ${level.branches.map((branch) => node(historian, branch, branch.slice(prefix.length)))}
    ${level.tags.map(foundRow)}
    ${
      level.next === undefined
        ? nothing
        : html`<li><button class="more" @click=${() => attempt(() => load(historian, prefix))}>More</button></li>`
    }`
}
