import { isUtf8 } from 'node:buffer'
import { Breather } from '../../historian/breather.ts'
import type { HistorianView } from '../../historian/registry.ts'
import { AddressBook } from './address-book.ts'
import { PointSpace } from './point-space.ts'
import { type PlainPoints, PointsBody } from './points-body.ts'

/** Spaces kept for the next requests. */
const MAX_SPACES = 2

/** Reads plain bodies of write/points; keeps what serves the next one. One is enough for a service. */
export class PointsReader {
  readonly #book: AddressBook
  readonly #spaces: PointSpace[] = []

  constructor(book = new AddressBook()) {
    this.#book = book
  }

  /**
   * @returns null for a body that is not plain (points-body.ts), which is no error
   * Throws the reason of `signal` when a long body is being read as it is aborted.
   */
  async read(bytes: Uint8Array, historians: HistorianView, signal: AbortSignal): Promise<PlainPoints | null> {
    if (!isUtf8(bytes)) return null
    const space = this.#spaces.pop() ?? new PointSpace()
    try {
      const body = new PointsBody(bytes, this.#book, space, historians)
      const steps = body.read()
      const breather = new Breather(signal)
      for (;;) {
        const { done, value } = steps.next()
        if (done === true) return value ? body.result() : null
        if (!breather.isDue) continue
        await breather.rest()
        if (!body.resume()) return null
      }
    } finally {
      if (space.isWorthKeeping && this.#spaces.length < MAX_SPACES) this.#spaces.push(space)
    }
  }
}
