import { signal } from '@preact/signals-core'
import { html, nothing } from 'lit-html'
import { type Issue, isCancelled, key, ServiceError, sentenceFor } from '../api/client.ts'
import { type Explanation, isoOf, readMulti } from '../api/multi.ts'
import { type CalculationFunction, listFunctions, mayWrite, saveAlias, searchTags } from '../api/tags.ts'
import { plotWidth } from '../curves/loaders.ts'
import { addPens, notice, span, zone } from '../state/store.ts'

interface Offer {
  readonly insert: string
  readonly label: string
  readonly about: string
}

/** What the service says of the text: its cost, or what is wrong where. */
interface Check {
  readonly text: string
  readonly explanation: Explanation | null
  readonly message: string
  readonly column: number | null
}

const text = signal('')
const offers = signal<readonly Offer[]>([])
const chosen = signal(0)
const check = signal<Check | null>(null)
const canSave = signal(false)
const aliasName = signal('')
const aliasError = signal('')

let functions: Promise<readonly CalculationFunction[]> | null = null
let running: AbortController | null = null
let timer: ReturnType<typeof setTimeout> | undefined
const TYPING_MS = 180

/** For which key it is known what it may do. */
let knownFor = ''

/** Learns what the key may do when it first matters. */
async function learnRights(): Promise<void> {
  if (knownFor === key.value) return
  knownFor = key.value
  functions = null
  canSave.value = await mayWrite()
}

/** A calculation as a pen: typed with completion, checked by the service as it is typed. */
export function calculator() {
  queueMicrotask(() => void learnRights())
  const { explanation, message } = check.value ?? { explanation: null, message: '' }
  const isRight = check.value !== null && message === '' && check.value.text === text.value
  return html`<form class="calculator" @submit=${add}>
    <label for="calculation">Calculation</label>
    <div class="suggest">
      <textarea id="calculation" rows="4" spellcheck="false" autocomplete="off" .value=${text.value}
        placeholder="SUB(demo/T101.LEVEL, 50)" aria-autocomplete="list" aria-controls="offers"
        aria-describedby="calculation-note"
        aria-activedescendant=${offers.value.length > 0 ? `offer-${chosen.value}` : nothing}
        aria-invalid=${message !== ''} @input=${typed} @keydown=${keys} @blur=${() => setTimeout(hideOffers, 150)}></textarea>
      <ul class="offers" id="offers" role="listbox" aria-label="Completions" ?hidden=${offers.value.length === 0}>
        ${offers.value.map(
          (
            { label, about },
            index,
          ) => html`<li role="option" id=${`offer-${index}`} aria-selected=${index === chosen.value}
            @pointerdown=${(event: Event) => {
              event.preventDefault()
              take(index)
            }}><bdi class="name">${label}</bdi><span class="about"><bdi>${about}</bdi></span></li>`,
        )}
      </ul>
    </div>
    <div id="calculation-note" role="status">
      ${message === '' ? nothing : html`${underlined()}<p class="error">${message}</p>`}
      ${explanation === null || !isRight ? nothing : cost(explanation)}
    </div>
    <div class="row"><button class="primary" type="submit" ?disabled=${text.value.trim() === ''}>Add to the trend</button></div>
    ${canSave.value ? saving(isRight) : nothing}
  </form>`
}

/** The text with a mark under the word that the error is about. */
function underlined() {
  const { column, text: checked } = check.value!
  if (column === null) return nothing
  const at = Math.max(0, column - 1 - prefixLength(checked))
  const word = /^[^\s,()]+/.exec(checked.slice(at))?.[0] ?? checked.slice(at, at + 1)
  return html`<pre class="checked"><bdi>${checked.slice(0, at)}<mark>${word === '' ? ' ' : word}</mark>${checked.slice(at + word.length)}</bdi></pre>`
}

function cost({ allowed, reasons, totals, limits }: Explanation) {
  const of = (value: number, limit: number) =>
    `${value.toLocaleString('en')} of ${limit.toLocaleString('en')}`
  return html`<dl class="cost">
    <div><dt>Historian load</dt><dd>${of(totals.load, limits.load)}</dd></div>
    <div><dt>Tags</dt><dd>${of(totals.effectiveTags, limits.effectiveTags)}</dd></div>
  </dl>${allowed ? nothing : html`<p class="error">${reasons[0]}</p>`}`
}

function saving(isRight: boolean) {
  return html`<fieldset class="save"><legend>Save as an alias</legend>
    <div class="row">
      <input aria-label="Name of the alias" placeholder="aliases/…" .value=${aliasName.value} spellcheck="false"
        @input=${(event: Event) => (aliasName.value = (event.target as HTMLInputElement).value)}>
      <button type="button" ?disabled=${!isRight || aliasName.value.trim() === ''} @click=${save}>Save</button>
    </div>
    <p class="error" role="alert">${aliasError.value}</p>
  </fieldset>`
}

async function save(): Promise<void> {
  const name = aliasName.value.trim().replace(/^aliases\//, '')
  try {
    aliasError.value = ''
    await saveAlias(name, addressOf(text.value), '')
    addPens([`aliases/${name}`])
    aliasName.value = ''
    notice.value = `Saved as aliases/${name}.`
  } catch (error) {
    aliasError.value = sentenceFor(error)
  }
}

function add(event: Event): void {
  event.preventDefault()
  if (text.value.trim() !== '') addPens([addressOf(text.value)])
}

/** A call is a calculation; anything else is an address as it stands. */
function addressOf(written: string): string {
  const trimmed = written.trim()
  return /^\w+\s*\(/.test(trimmed) ? `calc/${trimmed}` : trimmed
}

/** Characters of the address before the text that was typed. */
function prefixLength(written: string): number {
  return addressOf(written).length - written.trim().length - (written.length - written.trimStart().length)
}

function typed(event: Event): void {
  const field = event.target as HTMLTextAreaElement
  text.value = field.value
  clearTimeout(timer)
  timer = setTimeout(() => void look(field.value, field.selectionStart), TYPING_MS)
}

async function look(written: string, caret: number): Promise<void> {
  running?.abort()
  const cancel = new AbortController()
  running = cancel
  await Promise.all([complete(written, caret, cancel.signal), checkText(written, cancel.signal)]).catch(
    (error) => {
      if (!isCancelled(error))
        check.value = { text: written, explanation: null, message: sentenceFor(error), column: null }
    },
  )
}

/** Functions whose names begin with the word before the caret, and tags that it is part of. */
async function complete(written: string, caret: number, cancel: AbortSignal): Promise<void> {
  const word = wordBefore(written, caret)
  if (word === '') return hideOffers()
  functions ??= listFunctions()
  const upper = word.toUpperCase()
  const [known, tags] = await Promise.all([
    functions,
    searchTags(word.split('/').at(-1)!, { limit: 8, cancel }).catch(() => ({ tags: [] })),
  ])
  const calls = known
    .filter(({ name, aliases }) => [name, ...aliases].some((one) => one.startsWith(upper)))
    .slice(0, 8)
    .map(({ name, usage, summary }) => ({ insert: `${name}(`, label: usage, about: summary }))
  const addresses = tags.tags.map(({ qualifiedTagName, description }) => ({
    insert: quotedIfNeeded(qualifiedTagName),
    label: qualifiedTagName,
    about: description ?? '',
  }))
  if (cancel.aborted) return
  offers.value = [...calls, ...addresses].filter(({ insert }) => insert !== word)
  chosen.value = 0
}

function wordBefore(written: string, caret: number): string {
  return /[^\s,()'"]*$/.exec(written.slice(0, caret))![0]
}

function quotedIfNeeded(address: string): string {
  return /[,()'"]|^\s|\s$/.test(address) ? `'${address.replace(/(['\\])/g, '\\$1')}'` : address
}

async function checkText(written: string, cancel: AbortSignal): Promise<void> {
  if (written.trim() === '') {
    check.value = null
    return
  }
  const { from, to } = span.peek()
  const details = { from: isoOf(from), to: isoOf(to), count: Math.max(2, Math.round(plotWidth.peek())) }
  const it = { type: 'INTERPOLATED_POINTS', tag: addressOf(written), details }
  const answer = await readMulti({ it }, { zone: zone.peek(), explain: true, cancel }).catch(
    (error: unknown) => {
      if (error instanceof ServiceError)
        return { errors: { it: error.message }, issues: error.issues, explain: null }
      throw error
    },
  )
  const message = answer.errors.it ?? ''
  const column = (answer.issues ?? []).find((issue: Issue) => issue.column !== undefined)?.column ?? null
  check.value = { text: written, explanation: answer.explain ?? null, message, column }
}

function keys(event: KeyboardEvent): void {
  const count = offers.value.length
  if (event.key === 'Enter' && !event.shiftKey && count === 0) {
    event.preventDefault()
    add(event)
    return
  }
  if (count === 0) return
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (by !== undefined) chosen.value = (chosen.value + by + count) % count
  else if (event.key === 'Enter' || event.key === 'Tab') take(chosen.value)
  else if (event.key === 'Escape') hideOffers()
  else return
  event.preventDefault()
}

function hideOffers(): void {
  offers.value = []
}

/** Puts a completion in the place of the word before the caret. */
function take(index: number): void {
  const offer = offers.value[index]
  const field = document.querySelector<HTMLTextAreaElement>('#calculation')
  if (offer === undefined || field === null) return
  const caret = field.selectionStart
  const start = caret - wordBefore(field.value, caret).length
  field.value = field.value.slice(0, start) + offer.insert + field.value.slice(caret)
  const end = start + offer.insert.length
  field.focus()
  field.setSelectionRange(end, end)
  text.value = field.value
  hideOffers()
  void look(field.value, end).then(hideOffers)
}
