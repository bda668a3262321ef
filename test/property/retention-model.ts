import type { TooOldPoints, WriteBatch } from '../../src/historian/contract.ts'
import { pointsOfTag, writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import type { RetentionTime } from '../../src/storage/retention/steady-clock.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'
import { at, EVER } from '../contract/points.ts'

const context = { signal: new AbortController().signal }

/** Two clocks that go on together. */
export class TestClock implements RetentionTime {
  us: number
  #setBy = 0

  constructor(us: number) {
    this.us = us
  }

  wallUs(): number {
    return this.us
  }

  monotonicMs(): number {
    return (this.us - this.#setBy) / 1_000
  }

  /** Sets the wall clock. */
  jump(us: number): void {
    this.us += us
    this.#setBy += us
  }
}

/** A rule that keeps so many seconds. */
export const keep = (match: string, seconds: number): RetentionRule => ({
  match,
  keep: { kind: 'exact', us: seconds * 1_000_000 },
})

/**
 * What retention gives, the obvious way: a map of points from which those at or before the watermark are deleted at
 * once, but for the newest of them and the last good one.
 */
export class RetentionModel {
  readonly points = new MemoryHistorian('model')
  #rules: readonly RetentionRule[] = []
  #watermarks = new Map<string, number>()

  /** The rules count as they are, those of the same pattern with the watermarks that they had. */
  async setRules(rules: readonly RetentionRule[], nowUs: number): Promise<void> {
    this.#watermarks = new Map(rules.map(({ match }) => [match, this.#watermarks.get(match) ?? -Infinity]))
    this.#rules = rules
    await this.pass(nowUs)
  }

  /** Time has passed. */
  async pass(nowUs: number): Promise<void> {
    for (const { match, keep: duration } of this.#rules) {
      const us = duration.kind === 'exact' ? duration.us : Number.NaN
      this.#watermarks.set(match, Math.max(this.#watermarks.get(match)!, nowUs - us))
    }
    await this.#prune()
  }

  async rename(renames: readonly { readonly from: string; readonly to: string }[]): Promise<void> {
    await this.points.renameTags(renames, false, context)
    await this.#prune()
  }

  /** Rejects as the historian does; gives what is too old. */
  async write(batch: WriteBatch): Promise<TooOldPoints | null> {
    const indexes: number[] = []
    const oldest: number[] = []
    const entries = batch.tags.map((tag, i) => {
      const watermark = this.#watermarkOf(tag)
      const { times, values, statuses } = pointsOfTag(batch, i)
      const isTaken = (_: unknown, k: number) => times[k]! > watermark
      times.forEach((time, k) => {
        if (time > watermark) return
        indexes.push(batch.offsets[i]! + k)
        oldest.push(watermark + 1)
      })
      const points = makeColumns(times.filter(isTaken).length)
      points.times.set(times.filter(isTaken))
      points.values.set(values.filter(isTaken))
      points.statuses.set(statuses.filter(isTaken))
      return { tag, points }
    })
    await this.points.write(writeBatch(entries, batch.createTags), context)
    if (indexes.length === 0) return null
    return {
      count: indexes.length,
      indexes: Uint32Array.from(indexes.slice(0, 1_000)),
      oldest: Float64Array.from(oldest.slice(0, 1_000)),
    }
  }

  #watermarkOf(tag: string): number {
    const rule = this.#rules.find(({ match }) => {
      const pattern = match
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*/g, '.*')
        .replace(/\?/g, '.')
      return new RegExp(`^${pattern}$`, 'isu').test(tag)
    })
    return rule === undefined ? -Infinity : this.#watermarks.get(rule.match)!
  }

  async #prune(): Promise<void> {
    const { tags } = await this.points.searchTags({ pattern: null, after: null, limit: 1_000 }, context)
    for (const { name } of tags) {
      const watermark = this.#watermarkOf(name)
      if (watermark === -Infinity) continue
      const query = { tag: name, ...EVER, to: at(watermark + 1), order: 'asc', limit: 1e9 } as const
      const [old] = await this.points.readRanges([query], context)
      const { times, statuses } = old!.points
      const good = statuses.lastIndexOf(0)
      for (const [i, time] of times.entries()) {
        if (i === good || i === times.length - 1) continue
        await this.points.deletePoints([{ tag: name, from: at(time), to: at(time + 1) }], false, context)
      }
    }
  }
}
