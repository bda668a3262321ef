import type { PointsOfTags } from '../wal/wal-record.ts'
import { NO_PLACE, type PointLog } from './point-log.ts'
import { TimeRange } from './time-range.ts'

/** Points that are put into the log in a step, and tags that count as one each. */
const POINTS_OF_STEP = 16_384

/**
 * Points of tags that have few, put into the log of a table in steps, where nobody looks for them before the table
 * takes the places of their last ones.
 */
export class FewPoints {
  readonly #log: PointLog
  /** As those of the table: by id of the tag the place of its last point, and how many it has. */
  last: Int32Array<ArrayBuffer>
  counts: Uint8Array<ArrayBuffer>
  /** Of what came together, of each tag whether its points are in the log. */
  readonly #added = new Map<PointsOfTags, Uint8Array>()
  /** Tags that are left to the table: they get memory of their own. */
  readonly #left = new Set<number>()
  /** Of the points. */
  readonly times = new TimeRange()

  /** @param last, counts  those of the table, which are copied */
  constructor(log: PointLog, last: Int32Array, counts: Uint8Array) {
    this.#log = log
    this.last = new Int32Array(last)
    this.counts = new Uint8Array(counts)
  }

  /** Whether the points of the tag with an index are in the log. */
  has(points: PointsOfTags, index: number): boolean {
    return this.#added.get(points)?.[index] === 1
  }

  /**
   * Puts points into the log, those that came together in their order.
   * @param others     tags whose points are elsewhere
   * @param mostInLog  points that a tag has in the log at most; below any count that stands for memory of its own
   */
  *add(
    all: PointsOfTags,
    others: { has(tag: number): boolean },
    mostInLog: (tag: number) => number,
  ): Generator<void, void> {
    const { tags, offsets, points } = all
    const added = new Uint8Array(tags.length)
    this.#added.set(all, added)
    let passed = 0
    for (let i = 0; i < tags.length; i++) {
      const tag = tags[i]!
      const start = offsets[i]!
      const end = offsets[i + 1]!
      if (++passed >= POINTS_OF_STEP) {
        passed = 0
        yield
      }
      if (start === end || others.has(tag)) continue
      if (tag >= this.counts.length) this.#grow(tag)
      const count = this.counts[tag]!
      if (count + end - start > mostInLog(tag) || this.#left.has(tag)) {
        // What comes of it later stays behind this.
        this.#left.add(tag)
        continue
      }
      this.last[tag] = this.#log.add(points, start, end, count === 0 ? NO_PLACE : this.last[tag]!)
      this.counts[tag] = count + end - start
      added[i] = 1
      this.times.widen(points.times, start, end)
      passed += end - start
    }
  }

  #grow(tag: number): void {
    const capacity = Math.max(1_024, Math.ceil((tag + 1) * 1.25))
    this.last = new Int32Array(this.last.buffer.transfer(4 * capacity))
    this.counts = new Uint8Array(this.counts.buffer.transfer(capacity))
  }
}
