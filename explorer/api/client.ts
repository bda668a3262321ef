import { signal } from '@preact/signals-core'

/** What is wrong, as the interface tells it for programs. */
export interface Issue {
  readonly code: string
  readonly message: string
  readonly label?: string
  readonly tag?: string
  readonly input?: string
  /** Of a calculation, counted from 1 in its whole address. */
  readonly column?: number
}

/** An answer that is an error, or none at all; the message is a sentence for the page. */
export class ServiceError extends Error {
  /** 0 where the service could not be reached. */
  readonly status: number
  readonly issues: readonly Issue[]

  constructor(message: string, status: number, issues: readonly Issue[] = []) {
    super(message)
    this.status = status
    this.issues = issues
  }
}

/** Address of the service with its base path: this file is `explorer/<version>/api/client.js` below it. */
export const ROOT = new URL('../../../', import.meta.url)

const STORED_KEY = 'tidemark.key'

/** Of this tab; empty while there is none. */
export const key = signal('')

/** Whether the service has refused the key that is set. */
export const keyRefusal = signal('')

/** How far the service's clock is ahead of the browser's, in milliseconds. */
let aheadMs = 0

/** The time by the service's clock. */
export function serviceNow(): number {
  return Date.now() + aheadMs
}

export function noteServiceNow(now: string): void {
  const at = Date.parse(now)
  // Only what a person could see: answers need some time to arrive.
  if (Number.isFinite(at) && Math.abs(at - serviceNow()) > 1_500) aheadMs = at - Date.now()
}

/** The key that the tab keeps over a reload. */
export function rememberedKey(): string {
  try {
    return sessionStorage.getItem(STORED_KEY) ?? ''
  } catch {
    return ''
  }
}

export function setKey(value: string): void {
  key.value = value
  keyRefusal.value = ''
  try {
    if (value === '') sessionStorage.removeItem(STORED_KEY)
    else sessionStorage.setItem(STORED_KEY, value)
  } catch {
    // Without storage the key lasts until the page is left.
  }
}

/**
 * One request with the tab's key.
 * @throws ServiceError with the service's sentence; an AbortError when it was cancelled
 */
export async function send<Answer>(
  method: string,
  path: string,
  body?: unknown,
  cancel?: AbortSignal,
): Promise<Answer> {
  const sentKey = key.value
  const response = await fetch(new URL(path, ROOT), {
    method,
    headers: {
      'X-Api-Key': sentKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(cancel !== undefined && { signal: cancel }),
    cache: 'no-store',
    credentials: 'omit',
  }).catch((error: unknown) => {
    if (cancel?.aborted) throw error
    throw new ServiceError('The service cannot be reached.', 0)
  })
  if (response.status === 204) return undefined as Answer
  const answer = await response.json().catch((error: unknown) => {
    if (cancel?.aborted) throw error
    throw new ServiceError(
      `The service answered with status ${response.status} and no JSON.`,
      response.status,
    )
  })
  if (response.ok) return answer as Answer
  const message = sentenceOf(answer) ?? `The service answered with status ${response.status}.`
  if (response.status === 401 && sentKey === key.value) {
    setKey('')
    keyRefusal.value = message
  }
  throw new ServiceError(message, response.status, answer?.issues ?? [])
}

function sentenceOf(answer: { message?: unknown; errors?: unknown } | null): string | null {
  const errors = Object.values(answer?.errors ?? {})
  if (typeof errors[0] === 'string') return errors[0]
  return typeof answer?.message === 'string' ? answer.message : null
}

export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** The sentence to show for whatever went wrong. */
export function sentenceFor(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
