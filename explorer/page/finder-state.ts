import { computed, signal } from '@preact/signals-core'
import { isCancelled, sentenceFor } from '../api/client.ts'
import { type FoundTag, searchTags } from '../api/tags.ts'

export type FinderMode = 'search' | 'tree' | 'calculate'

/** On narrow screens the finder lies over the chart. */
export const finderIsOpen = signal(false)
export const finderMode = signal<FinderMode>('search')
export const query = signal('')
export const found = signal<readonly FoundTag[]>([])
export const findError = signal('')
export const isFinding = signal(false)
/** Where the answer goes on; empty at its end. */
export const nextPage = signal('')

/** What search the shown tags are of. */
export const foundFor = signal<string | null>(null)

const PAGE = 60
const TYPING_MS = 120

let running: AbortController | null = null
let timer: ReturnType<typeof setTimeout> | undefined

/** Searches while somebody is typing; a search that goes on is cancelled by the next one. */
export function typeQuery(text: string): void {
  query.value = text
  clearTimeout(timer)
  timer = setTimeout(() => void find(text), TYPING_MS)
}

export async function find(text: string, cursor = ''): Promise<void> {
  running?.abort()
  const cancel = new AbortController()
  running = cancel
  isFinding.value = true
  try {
    const options = { limit: PAGE, cancel: cancel.signal, ...(cursor !== '' && { cursor }) }
    const { tags, next } = await searchTags(text.trim(), options)
    found.value = cursor === '' ? tags : [...found.peek(), ...tags]
    foundFor.value = text
    nextPage.value = next ?? ''
    findError.value = ''
  } catch (error) {
    if (isCancelled(error)) return
    findError.value = sentenceFor(error)
  }
  if (running === cancel) isFinding.value = false
}

/** Whether nothing was found for what stands in the field. */
export const isEmpty = computed(() => foundFor.value === query.value && found.value.length === 0)
