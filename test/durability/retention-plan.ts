import { makeColumns, type PointColumns, sliceColumns } from '../../src/series/columns.ts'
import type { EngineLimits } from '../../src/storage/engine/engine-limits.ts'
import type { KillRequest } from './kill-plan.ts'

/*
 * What the process writes whose retention is killed: the points of a request, and the changes that it makes after them,
 * follow from its number alone. Beside it the writers of kill-plan.ts write into tags of the same historian that have
 * no rule.
 */

/**
 * What the process tells: the watermark, a request with its changes, or a writer of kill-plan.ts by its number and 2.
 */
export const TOLD = { request: 0, watermark: 1, writer: 2 } as const

export const START_US = 1_700_000_000_000_000
const OFTEN = 'kept often'
const MOSTLY_BAD = 'kept mostly bad'
const SELDOM = 'kept seldom'
/** A tag that has one of these names, and the other one after the next rename. */
const MOVED = ['kept moved', 'kept moved too'] as const
/** Time of a request, in microseconds after the start. */
export const timeOf = (request: number) => request * 1_000_000
/** The request that a point came with. */
const requestAt = (us: number) => Math.floor((us - START_US) / 1_000_000)
/** Some 40 requests. */
export const KEEP = { kind: 'exact', us: 40_000_000 } as const
export const RULES = [{ match: 'kept *', keep: KEEP }]

/** Writers of kill-plan.ts beside it. */
export const PLAIN_WRITERS = 2

/** It flushes, merges and trims all the time. */
export const LIMITS: Partial<EngineLimits> = {
  flush: { points: 300, records: 5, ageMs: 20, packedAside: 20 },
  merge: { partitionBytes: 20_000, fanIn: 3, largestBytes: 1 << 22 },
  idleMergeAfterMs: 5,
  cacheBytes: 1 << 20,
  unlinkAfterMs: 0,
  unlinkSoonestMs: 0,
  retentionEveryMs: 1e9,
  reserveBytes: 0,
}

/** Renames of requests up to one. */
const RENAMED_AFTER = 13
const nameAfter = (request: number) => MOVED[Math.floor(request / RENAMED_AFTER) % 2]!

/** Tags that a request writes to. */
export const tagsOf = (request: number) => [OFTEN, MOSTLY_BAD, SELDOM, nameAfter(request - 1)]

/** How far the requests have got: the last one that wrote, and how many of its changes are made. */
export interface Progress {
  readonly request: number
  readonly changes: number
}

/** What a request changes after its points, one after the other. */
export function changesOf(request: number): readonly KillRequest[] {
  const changes: KillRequest[] = []
  if (request % 5 === 2) changes.push({ kind: 'describe', tags: [OFTEN], description: `text ${request}` })
  if (request % 7 === 0) {
    const before = START_US + timeOf(request - 1)
    const range = {
      tag: MOSTLY_BAD,
      from: before + DELETED.from * STEP_US,
      to: before + DELETED.to * STEP_US,
    }
    changes.push({ kind: 'delete', ranges: [range] })
  }
  if (request % RENAMED_AFTER === 0) {
    changes.push({ kind: 'rename', from: nameAfter(request - 1), to: nameAfter(request) })
  }
  return changes
}

/** The newest and the last good point of each tag are among those of so many requests. */
const KEPT_WITHIN = 200
/** Points of a request that the next one may delete. */
const DELETED = { from: 10, to: 30 }
const STEP_US = 10_000

export function pointsOf(tag: string, request: number): PointColumns {
  const count = tag === SELDOM ? (request % 90 === 0 ? 1 : 0) : tag === OFTEN || tag === MOSTLY_BAD ? 60 : 3
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = START_US + timeOf(request) + i * STEP_US
    points.values[i] = request + i / 7
    points.statuses[i] = tag === MOSTLY_BAD && (request % 100 !== 0 || i > 0) ? 1 : 0
  }
  return points
}

function isMade(kind: KillRequest['kind'], request: number, progress: Progress): boolean {
  const place = changesOf(request).findIndex((change) => change.kind === kind)
  return (
    place >= 0 && (request < progress.request || (request === progress.request && place < progress.changes))
  )
}

/** The points of all requests, less those that were deleted, and those that a watermark removed. */
function expectedPoints(tag: string, progress: Progress, watermark: number): PointColumns {
  // What stays of those before it is no older than so many requests.
  const first = Math.max(1, watermark === Number.NEGATIVE_INFINITY ? 1 : requestAt(watermark) - KEPT_WITHIN)
  const all = Array.from({ length: progress.request - first + 1 }, (_, i) => pointsOf(tag, first + i))
  const points = makeColumns(all.reduce((sum, { times }) => sum + times.length, 0))
  let old = 0
  let good = -1
  let at = 0
  for (const [i, { times, values, statuses }] of all.entries()) {
    const isCut = tag === MOSTLY_BAD && isMade('delete', first + i + 1, progress)
    for (let k = 0; k < times.length; k++) {
      if (isCut && k >= DELETED.from && k < DELETED.to) continue
      points.times[at] = times[k]!
      points.values[at] = values[k]!
      points.statuses[at] = statuses[k]!
      if (times[k]! <= watermark) {
        old = at + 1
        if (statuses[k] === 0) good = at
      }
      at++
    }
  }
  if (old === 0) return sliceColumns(points, 0, at)
  const kept = good >= 0 && good < old - 1 ? 2 : 1
  const left = sliceColumns(points, old - kept, at)
  if (kept === 2) {
    left.times[0] = points.times[good]!
    left.values[0] = points.values[good]!
    left.statuses[0] = points.statuses[good]!
  }
  return left
}

/** What must be there of the tags with a rule, by name: points and description. */
function expected(progress: Progress, watermark: number): ReadonlyMap<string, RetainedTag> {
  const { request } = progress
  const moved = isMade('rename', request, progress) ? nameAfter(request) : nameAfter(request - 1)
  let description: string | null = null
  for (let one = request; one > 0 && description === null; one--) {
    if (isMade('describe', one, progress)) description = `text ${one}`
  }
  return new Map(
    [OFTEN, MOSTLY_BAD, SELDOM, moved].map((tag) => [
      tag,
      { points: expectedPoints(tag, progress, watermark), description: tag === OFTEN ? description : null },
    ]),
  )
}

/** A tag with a rule. */
export interface RetainedTag {
  readonly points: PointColumns
  readonly description: string | null
}

/** All tags with a rule that there may ever be. */
export const RETAINED = [OFTEN, MOSTLY_BAD, SELDOM, ...MOVED]

/**
 * How far the requests had got that led to what is there of the tags with a rule; `null` where it is nothing that they
 * lead to.
 * @param found      by name, those that do not exist left out
 * @param watermark  `null` for any that explains it
 * @param what       whether descriptions, and tags without points, are looked at
 */
export function progressOf(
  found: ReadonlyMap<string, RetainedTag>,
  watermark: number | null,
  what: 'points' | 'all',
): Progress | null {
  const often = found.get(OFTEN)
  if (often === undefined) return found.size === 0 ? { request: 0, changes: 0 } : null
  const { times } = often.points
  const request = requestAt(times.at(-1)!)
  // All of its points are good, and none is deleted: one stays at or before the watermark.
  const before =
    requestAt(times[0]!) === 1 && times[0] === START_US + timeOf(1) ? [Number.NEGATIVE_INFINITY] : []
  const watermarks = watermark === null ? [times[0]!, ...before] : [watermark]
  for (let changes = 0; changes <= changesOf(request).length; changes++) {
    const progress = { request, changes }
    if (watermarks.some((one) => isSame(expected(progress, one), found, what))) return progress
  }
  return null
}

function isSame(
  one: ReadonlyMap<string, RetainedTag>,
  other: ReadonlyMap<string, RetainedTag>,
  what: 'points' | 'all',
): boolean {
  const there = [...one].filter(([, { points }]) => what === 'all' || points.times.length > 0)
  if (there.length !== other.size) return false
  for (const [tag, { points, description }] of there) {
    const found = other.get(tag)
    if (found === undefined || (what === 'all' && found.description !== description)) return false
    for (const column of ['times', 'values', 'statuses'] as const) {
      if (Buffer.compare(bytesOf(points[column]), bytesOf(found.points[column])) !== 0) return false
    }
  }
  return true
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array | Uint8Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)
