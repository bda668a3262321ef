import type { PointColumns } from '../../series/columns.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'

const UNKNOWN = 0
const KNOWN = 1

/** The newest point of each tag that was asked about, wherever it is stored, by the tag's id: 18 bytes for each. */
export class NewestPoints {
  /** -Infinity for a tag without points. */
  #times = new Float64Array(0)
  #values = new Float64Array(0)
  #statuses = new Uint8Array(0)
  #states = new Uint8Array(0)

  /** Whether it is known of a tag; `time` and `copy` may be asked then. */
  has(tag: number): boolean {
    return tag < this.#states.length && this.#states[tag] === KNOWN
  }

  /** -Infinity for a tag without points. */
  time(tag: number): number {
    return this.#times[tag]!
  }

  /** Copies the newest point of a tag that has one. */
  copy(tag: number, target: PointColumns, index: number): void {
    target.times[index] = this.#times[tag]!
    target.values[index] = this.#values[tag]!
    target.statuses[index] = this.#statuses[tag]!
  }

  remember(tag: number, time: number, value: number, status: number): void {
    if (tag >= this.#states.length) this.#grow(tag)
    this.#states[tag] = KNOWN
    this.#times[tag] = time
    this.#values[tag] = value
    this.#statuses[tag] = status
  }

  /** To be called when it may have been taken away. */
  forget(tag: number): void {
    if (tag < this.#states.length) this.#states[tag] = UNKNOWN
  }

  /** Points have arrived. */
  add({ tags, offsets, points }: PointsOfTags): void {
    const { times, values, statuses } = points
    for (let i = 0; i < tags.length; i++) {
      const tag = tags[i]!
      if (tag >= this.#states.length || this.#states[tag] !== KNOWN) continue
      for (let at = offsets[i]!; at < offsets[i + 1]!; at++) {
        if (times[at]! < this.#times[tag]!) continue
        this.#times[tag] = times[at]!
        this.#values[tag] = values[at]!
        this.#statuses[tag] = statuses[at]!
      }
    }
  }

  #grow(tag: number): void {
    const capacity = Math.max(1_024, Math.ceil((tag + 1) * 1.25))
    // What was there is freed at once, and not by the next collection of garbage.
    this.#times = new Float64Array(this.#times.buffer.transfer(8 * capacity))
    this.#values = new Float64Array(this.#values.buffer.transfer(8 * capacity))
    this.#statuses = new Uint8Array(this.#statuses.buffer.transfer(capacity))
    this.#states = new Uint8Array(this.#states.buffer.transfer(capacity))
  }
}
