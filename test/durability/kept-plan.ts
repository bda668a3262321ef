import { makeColumns, type PointColumns, STATUS_BAD, STATUS_OK } from '../../src/series/columns.ts'
import { START_MS } from './kill-calls.ts'
import type { KillRequest } from './kill-plan.ts'

/*
 * What is written to tags of which retention hides points while a service is killed. Times follow the machine's clock,
 * as the watermark does; so requests are kept here, and the same one is made again where nobody answered.
 */

export const KEEP_SECONDS = 60
/** Rules of the historian, as its configuration has them. */
export const KEPT_RULES = [{ match: 'kept *', keep: `${KEEP_SECONDS}s` }]

/** Points are so old when they are written, and are hidden so much later that every request comes before that. */
const AGE_MS = 15_000
/** Points that may be deleted or overwritten came at most so many requests before. */
const RECENT = 5
const OFTEN = 'kept often'
const MOSTLY_BAD = 'kept mostly bad'
/** A tag that has one of these names, and the other one after the next rename. */
const MOVED = ['kept moved', 'kept moved too'] as const
export const KEPT_TAGS: readonly string[] = [OFTEN, MOSTLY_BAD, ...MOVED]
const RENAMED_AFTER = 13
const POINTS = 4

interface ModelPoint {
  readonly time: number
  readonly value: number
  readonly status: number
}

/** What a service gives of a tag. */
export interface FoundTag {
  readonly points: PointColumns
  readonly description: string | null
}

/** Requests to the tags with a rule, as far as they were made. */
export class KeptPlan {
  readonly #requests: KillRequest[] = []
  /** First time of the points of each request that has some. */
  readonly #firstTimes: number[] = []

  /** Request number `sequence`, from 1: always the same. */
  requestOf(sequence: number): KillRequest {
    while (this.#requests.length < sequence) this.#requests.push(this.#make(this.#requests.length + 1))
    return this.#requests[sequence - 1]!
  }

  #make(sequence: number): KillRequest {
    const renames = Math.floor(sequence / RENAMED_AFTER)
    const moved = MOVED[renames % 2]!
    if (sequence % RENAMED_AFTER === 0) return { kind: 'rename', from: MOVED[(renames - 1) % 2]!, to: moved }
    if (sequence % 5 === 2) return { kind: 'describe', tags: [OFTEN, moved], description: `text ${sequence}` }
    const recent = this.#firstTimes.at(-RECENT)
    if (sequence % 7 === 3 && recent !== undefined) {
      return {
        kind: 'delete',
        ranges: [
          { tag: OFTEN, from: recent + 1_000, to: recent + 3_000 },
          { tag: MOSTLY_BAD, from: recent, to: recent + 3_000 },
        ],
      }
    }
    const now = (Date.now() - AGE_MS - START_MS) * 1_000
    const first = Math.max(now, (this.#firstTimes.at(-1) ?? 0) + POINTS * 1_000)
    this.#firstTimes.push(first)
    const columns = (from: number, isBad: (index: number) => boolean) => {
      const points = makeColumns(POINTS)
      for (let i = 0; i < POINTS; i++) {
        points.times[i] = from + i * 1_000
        points.values[i] = sequence + i / 7
        points.statuses[i] = isBad(i) ? STATUS_BAD : STATUS_OK
      }
      return points
    }
    return {
      kind: 'write',
      tags: [
        { tag: OFTEN, points: columns(first, () => false) },
        // Now and then what came a moment ago is overwritten.
        {
          tag: MOSTLY_BAD,
          points: columns(sequence % 3 === 0 ? (recent ?? first) : first, (i) => (sequence + i) % 40 !== 0),
        },
        { tag: moved, points: columns(first, (i) => i % 3 === 0) },
      ],
    }
  }
}

/** What must be there of the tags with a rule after some request. */
export class KeptModel {
  readonly #plan: KeptPlan
  readonly #tags = new Map<string, { description: string | null; points: Map<number, ModelPoint> }>()
  sequence = 0

  constructor(plan: KeptPlan) {
    this.#plan = plan
  }

  advanceTo(sequence: number): void {
    while (this.sequence < sequence) this.#apply(this.#plan.requestOf(++this.sequence))
  }

  /**
   * Why what was found is nothing that must be there at a watermark between two, these included: of each tag with all
   * behind it, and the newest and the last good one of those at or before it. `null` when it is.
   */
  differenceOf(found: ReadonlyMap<string, FoundTag>, least: number, most: number): string | null {
    for (const name of KEPT_TAGS) {
      const expected = this.#tags.get(name)
      const there = found.get(name)
      const which = `${name} after request ${this.sequence}`
      if ((expected === undefined) !== (there === undefined)) return `${which}: is it there`
      if (expected === undefined || there === undefined) continue
      if (expected.description !== there.description) return `${which}: ${there.description}`
      const sorted = [...expected.points.values()].sort((a, b) => a.time - b.time)
      const between = sorted.map(({ time }) => time).filter((time) => time > least && time <= most)
      if (![least, ...between].some((watermark) => isSame(retained(sorted, watermark), there.points))) {
        return `${which}: ${there.points.times.length} points of ${sorted.length}, watermark ${least} to ${most}`
      }
    }
    return null
  }

  /** Points that a watermark hides. */
  hiddenBy(watermark: number): number {
    let hidden = 0
    for (const { points } of this.#tags.values()) {
      const sorted = [...points.values()].sort((a, b) => a.time - b.time)
      hidden += sorted.length - retained(sorted, watermark).length
    }
    return hidden
  }

  #apply(request: KillRequest): void {
    switch (request.kind) {
      case 'write':
        for (const { tag, points } of request.tags) {
          const known = this.#of(tag).points
          points.times.forEach((time, i) => {
            known.set(time, { time, value: points.values[i]!, status: points.statuses[i]! })
          })
        }
        return
      case 'delete':
        for (const { tag, from, to } of request.ranges) {
          const { points } = this.#of(tag)
          for (const time of points.keys()) if (time >= from && time < to) points.delete(time)
        }
        return
      case 'describe':
        for (const tag of request.tags) this.#of(tag).description = request.description
        return
      case 'rename':
        this.#tags.set(request.to, this.#of(request.from))
        this.#tags.delete(request.from)
        return
      case 'drop':
        throw new Error('no tag with a rule is deleted')
    }
  }

  #of(tag: string) {
    let found = this.#tags.get(tag)
    if (found === undefined) {
      found = { description: null, points: new Map() }
      this.#tags.set(tag, found)
    }
    return found
  }
}

/** @param sorted  by time */
function retained(sorted: readonly ModelPoint[], watermark: number): readonly ModelPoint[] {
  const old = sorted.filter(({ time }) => time <= watermark)
  const newest = old.at(-1)
  const good = old.findLast(({ status }) => status === STATUS_OK)
  return sorted.filter((point) => point.time > watermark || point === newest || point === good)
}

function isSame(expected: readonly ModelPoint[], { times, values, statuses }: PointColumns): boolean {
  return (
    expected.length === times.length &&
    expected.every(
      ({ time, value, status }, i) => time === times[i] && value === values[i] && status === statuses[i],
    )
  )
}
