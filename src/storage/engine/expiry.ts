import { type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { isUnreadable } from '../damage.ts'
import { type Expired, ExpiredColumns } from '../merge/expired.ts'
import { coveredOf } from '../merge/reclaim.ts'
import { ascendingTags } from '../parts/ascending-tags.ts'
import type { Part, PartInfo } from '../parts/part.ts'
import { Pacer, type ReadPace } from '../pause.ts'
import { hiddenSpans, keptInSlices } from '../retention/kept-points.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import type { EngineState } from './engine-state.ts'
import type { PartSet } from './part-set.ts'
import { TagNow } from './tag-now.ts'

/** Tags of a part that are looked at to estimate how much of it has expired. */
const SAMPLES = 256
const HOUR_US = 3_600_000_000
/** How often a part is looked at: so many times in the time that the shortest rule keeps. */
const LOOKS = 24

/**
 * What lies behind watermarks in parts. It is worked out on the newest state, tag by tag: the points that stay of a tag
 * may be in any part or in memory, and once something has expired nothing brings it back.
 */
export class Expiry {
  readonly #state: EngineState
  /** By the name of a part the clock of retention when it was looked at. */
  readonly #looked = new Map<string, number>()

  constructor(state: EngineState) {
    this.#state = state
  }

  /** What of parts has expired; `null` for nothing, and where that cannot be told because of what cannot be read. */
  async ofParts(set: PartSet, infos: readonly PartInfo[], signal: AbortSignal): Promise<Expired | null> {
    const highest = this.#highest
    const names = new Set(infos.filter(({ firstTime }) => firstTime <= highest).map(({ name }) => name))
    if (names.size === 0) return null
    const parts = set.parts.flatMap(({ info, part }) =>
      part === null || !names.has(info.name) ? [] : [part],
    )
    const expired = new ExpiredColumns()
    const pace = paceOf(signal)
    try {
      for (const tag of ascendingTags(parts.map((part) => part.tags()))) {
        if (pace.isDue()) await pace.pause()
        const watermark = this.#watermark(tag)
        if (!parts.some((part) => part.info.firstTime <= watermark && part.has(tag))) continue
        const { times: kept, statuses } = await this.#kept(tag, pace)
        if (kept.length === 0) continue
        // The last good one is the first of them, if there is one.
        const good = statuses[0] === STATUS_BAD ? Number.NEGATIVE_INFINITY : kept[0]!
        expired.add(tag, good, kept.at(-1)!)
      }
    } catch (error) {
      if (isUnreadable(error)) return null
      throw error
    }
    return expired.take()
  }

  /**
   * Whether it is time to look at a part again: so much has expired since then that it may matter. It counts as looked
   * at from now on.
   */
  isDue({ name, firstTime }: PartInfo): boolean {
    const { retention } = this.#state.parts.current.version
    if (retention === null || firstTime > this.#highest) return false
    const { clock } = retention
    const everyUs = Math.min(HOUR_US, (clock - this.#highest) / LOOKS)
    const last = this.#looked.get(name)
    if (last !== undefined && clock - last < everyUs) return false
    this.#looked.set(name, clock)
    return true
  }

  /** Has a part looked at again, whose merge has failed. */
  forget(name: string): void {
    this.#looked.delete(name)
  }

  /** Forgets parts that are there no more. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#looked.keys()) if (!names.has(name)) this.#looked.delete(name)
  }

  /**
   * Estimates, from a sample of tags, how much of a part's points has expired, from 0 to 1: none where that cannot be
   * told because of damage.
   */
  async shareOf(part: Part, signal: AbortSignal): Promise<number> {
    const step = Math.max(1, Math.floor(part.info.tags / SAMPLES))
    const pace = paceOf(signal)
    let number = 0
    let all = 0
    let expired = 0
    try {
      for (const tag of part.tags()) {
        if (number++ % step !== 0) continue
        const run = part.run(tag)!
        all += run.count
        if (run.firstTime <= this.#watermark(tag)) {
          expired += coveredOf(run, hiddenSpans(await this.#kept(tag, pace)))
        }
        if (pace.isDue()) await pace.pause()
      }
    } catch (error) {
      if (isUnreadable(error)) return 0
      throw error
    }
    return all === 0 ? 0 : expired / all
  }

  get #highest(): number {
    return Math.max(...(this.#state.parts.current.version.retention?.watermarks ?? []))
  }

  #watermark(tag: number): number {
    const { parts, catalog, watermarks } = this.#state
    return watermarks.of(parts.current.version.retention, catalog, tag)
  }

  /** The points of a tag that stay at or before its watermark. */
  async #kept(tag: number, pace: ReadPace): Promise<PointColumns> {
    const watermark = this.#watermark(tag)
    const now = new TagNow(this.#state, tag)
    try {
      return await keptInSlices(now.blocks(NO_WATERMARK), watermark, pace)
    } finally {
      now.release()
    }
  }
}

function paceOf(signal: AbortSignal): ReadPace {
  const pacer = new Pacer()
  return { isDue: (steps) => pacer.isDue(steps), pause: () => pacer.pause(signal) }
}
