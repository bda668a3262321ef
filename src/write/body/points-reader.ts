import { isUtf8 } from 'node:buffer'
import type { HistorianView } from '../../historian/registry.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import { AddressBook } from './address-book.ts'
import { PointSpace } from './point-space.ts'
import { type PlainPoints, PointsBody } from './points-body.ts'

/** Spaces kept for the next requests. */
const MAX_SPACES = 3
/** So many points are copied out, as writers with few points can be many; more of them are lent with their space. */
const MOST_COPIED = 4_096

/**
 * Fast path: reads bodies of write/points in canonical form; keeps what serves the next one. One is enough for a
 * service.
 */
export class PointsReader {
  readonly #book: AddressBook
  readonly #spaces: PointSpace[] = []

  constructor(book = new AddressBook()) {
    this.#book = book
  }

  /**
   * @param mostTags beyond, it is not for this reader to say so: the body counts as not canonical
   * @param hold     called with the bytes of memory that the points take, as they become more; may throw
   * @returns null for a body that is not in canonical form (points-body.ts), which is no error
   * Throws the reason of `signal` when a long body is being read as it is aborted.
   */
  async read(
    bytes: Uint8Array,
    historians: HistorianView,
    signal: AbortSignal,
    mostTags = Number.POSITIVE_INFINITY,
    hold: (bytes: number) => void = () => {},
  ): Promise<PlainPoints | null> {
    if (!isUtf8(bytes)) return null
    const space = this.#spaces.pop() ?? new PointSpace()
    let isLent = false
    let held = space.bytes
    try {
      const body = new PointsBody(bytes, this.#book, space, historians, mostTags)
      const steps = body.read()
      const scheduler = new CooperativeScheduler(signal)
      for (;;) {
        const { done, value } = steps.next()
        if (space.bytes > held) {
          held = space.bytes
          hold(held)
        }
        if (done === true) {
          if (!value) return null
          if (body.count <= MOST_COPIED) return { ...body.result(space.copy(body.count)), release: () => {} }
          isLent = true
          return { ...body.result(space.view(body.count)), release: this.#lend(space) }
        }
        if (!scheduler.isDue) continue
        await scheduler.yield()
        if (!body.resume()) return null
      }
    } finally {
      if (!isLent) this.#keep(space)
    }
  }

  /** Gives what takes a space back, once. */
  #lend(space: PointSpace): () => void {
    let isLent = true
    return () => {
      if (isLent) this.#keep(space)
      isLent = false
    }
  }

  #keep(space: PointSpace): void {
    if (space.isWorthKeeping && this.#spaces.length < MAX_SPACES) this.#spaces.push(space)
  }
}
