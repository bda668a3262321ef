import { batch, signal } from '@preact/signals-core'
import { isCancelled, sentenceFor } from '../api/client.ts'

/** While a span moves, tables wait until it rests. */
const REST_MS = 200

/**
 * Something read from the service for what is seen. A newer wish cancels an older one; the last good value stays until
 * the next one is here.
 */
export class Resource<Value> {
  readonly value = signal<Value | null>(null)
  readonly error = signal('')
  readonly isLoading = signal(false)
  #wish = ''
  #cancel: AbortController | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * Reads anew when the wish differs from the last one.
   * @param wish  says what is read, so that the same is not read twice
   */
  want(wish: string, read: (cancel: AbortSignal) => Promise<Value>): void {
    if (wish === this.#wish) return
    this.#wish = wish
    clearTimeout(this.#timer)
    this.#cancel?.abort()
    this.isLoading.value = true
    this.#timer = setTimeout(() => void this.#read(read), REST_MS)
  }

  /** Reads a value that goes on from the one that is shown; it is dropped when another one is shown by then. */
  async extend(shown: Value, read: () => Promise<Value>): Promise<void> {
    const show = (value: Value, error: string) => {
      if (this.value.peek() !== shown) return
      batch(() => {
        this.value.value = value
        this.error.value = error
      })
    }
    await read().then(
      (value) => show(value, ''),
      (error: unknown) => show(shown, sentenceFor(error)),
    )
  }

  /** Forgets everything. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#cancel?.abort()
    this.#wish = ''
    batch(() => {
      this.value.value = null
      this.error.value = ''
      this.isLoading.value = false
    })
  }

  async #read(read: (cancel: AbortSignal) => Promise<Value>): Promise<void> {
    const cancel = new AbortController()
    this.#cancel = cancel
    try {
      const value = await read(cancel.signal)
      if (cancel.signal.aborted) return
      batch(() => {
        this.value.value = value
        this.error.value = ''
        this.isLoading.value = false
      })
    } catch (error) {
      if (isCancelled(error) || cancel.signal.aborted) return
      batch(() => {
        this.error.value = sentenceFor(error)
        this.isLoading.value = false
      })
    }
  }
}
