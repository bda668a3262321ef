import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, CountedRange, TagRange } from '../../historian/contract.ts'
import { type Instant, MIN_INSTANT } from '../../time/instant.ts'
import { windowsIn } from './aggregates.ts'
import { countsOf, type SendChange } from './changes.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask, explainLoads, type LabelRequest } from './labels.ts'
import { rangeDetails } from './ranges.ts'
import { comparedDetail, LAST_INSTANT, timeText } from './wire.ts'

/**
 * Number of points in each range, exactly, and an upper bound of those that comparisons need; at least `cap` where the
 * other instance will not count so many.
 * @param pagePoints labels that one call may have
 */
export async function countPoints(
  instance: Instance,
  ranges: readonly CountedRange[],
  addressOf: (tag: string) => string,
  pagePoints: number,
  cap: number,
  context: CallContext,
): Promise<readonly number[]> {
  const counts = new Array<number>(ranges.length).fill(0)
  const ask = async (asked: readonly Asked[], counted: typeof countAll) => {
    for (let start = 0; start < asked.length; start += pagePoints) {
      const part = asked.slice(start, start + pagePoints)
      const found = await counted(
        instance,
        part.map(({ request }) => request),
        cap,
        context,
      )
      part.forEach(({ index }, i) => {
        counts[index]! += found[i]!
      })
    }
  }
  const all: Asked[] = []
  const compared: Asked[] = []
  ranges.forEach((range, index) => {
    const { tag, from, to } = range
    if (range.compared === undefined) {
      for (const request of countRequests(addressOf(tag), from, to)) all.push({ index, request })
    } else
      for (const request of comparedRequests(addressOf(tag), range, cap)) compared.push({ index, request })
  })
  await Promise.all([ask(all, countAll), ask(compared, countCompared)])
  return counts
}

interface Asked {
  readonly index: number
  readonly request: LabelRequest
}

/** A read that is only explained. */
function comparedRequests(
  tag: string,
  { from, to, compared }: CountedRange,
  cap: number,
): readonly LabelRequest[] {
  const details = rangeDetails(from, to)
  if (details === null) return []
  const maxPoints = Math.min(cap, Number.MAX_SAFE_INTEGER)
  return [{ type: 'RAW_POINTS', tag, details: { ...details, maxPoints, ...comparedDetail(compared) } }]
}

async function countCompared(
  instance: Instance,
  requests: readonly LabelRequest[],
  cap: number,
  context: CallContext,
): Promise<readonly number[]> {
  const loads = await explainLoads(instance, requests, context)
  // Counting stopped there, and reading would be refused.
  return loads.map((load) => (load === null ? cap : Math.min(load, cap)))
}

/** None for an empty range. */
function countRequests(tag: string, from: number, to: number): readonly LabelRequest[] {
  const range = rangeDetails(from, to)
  if (range === null) return []
  return [{ type: 'AGGREGATED_POINTS', tag, details: { ...range, aggregates: ['COUNT'] } }]
}

async function countAll(
  instance: Instance,
  requests: readonly LabelRequest[],
  cap: number,
  context: CallContext,
): Promise<readonly number[]> {
  try {
    return await countEach(instance, requests, context)
  } catch (error) {
    // Where counting alone is more than the other instance allows, reading is too.
    if (isLimit(error)) return requests.map(() => cap)
    throw error
  }
}

/**
 * The counts themselves, of which no limit of the other instance takes the place: a call that it refuses is made in
 * smaller ones. Rejects with HISTORIAN_LIMIT where a count is refused alone.
 * @param labels that the first call has at most
 */
async function countExactly(
  instance: Instance,
  requests: readonly LabelRequest[],
  labels: number,
  context: CallContext,
): Promise<readonly number[]> {
  const counts: number[] = []
  let size = labels
  while (counts.length < requests.length) {
    const part = requests.slice(counts.length, counts.length + size)
    try {
      for (const count of await countEach(instance, part, context)) counts.push(count)
    } catch (error) {
      if (!isLimit(error) || part.length === 1) throw error
      size = Math.ceil(part.length / 2)
    }
  }
  return counts
}

async function countEach(
  instance: Instance,
  requests: readonly LabelRequest[],
  context: CallContext,
): Promise<readonly number[]> {
  const answers = await ask(instance, requests, { kind: 'estimate' }, context)
  return answers.map((answer) => (answer === null ? 0 : countOf(instance, answer)))
}

function isLimit(error: unknown): boolean {
  return error instanceof TidemarkError && error.code === 'HISTORIAN_LIMIT'
}

function countOf(instance: Instance, answer: Readonly<Record<string, unknown>>): number {
  const [window] = windowsIn(answer) ?? []
  if (typeof window?.count === 'number') return window.count
  throw notUnderstood(instance.historian, 'it gives no count')
}

/**
 * Deletes ranges in one request and gives the points of each. The interface counts by tag: where a tag has several
 * ranges, those of each are counted just before, each point for the first range that holds it.
 */
export async function deletePoints(
  instance: Instance,
  ranges: readonly TagRange[],
  dryRun: boolean,
  addressOf: (tag: string) => string,
  pagePoints: number,
  send: SendChange,
  context: CallContext,
): Promise<readonly number[]> {
  const byTag = new Map<string, number[]>()
  ranges.forEach(({ tag, from, to }, index) => {
    if (Math.max(from, MIN_INSTANT) < Math.min(to, LAST_INSTANT))
      byTag.getOrInsertComputed(tag, () => []).push(index)
  })
  const counts = await countSeveral(instance, ranges, byTag, addressOf, pagePoints, context)
  while (byTag.size > 0) {
    const tags = [...byTag.keys()]
    const body = JSON.stringify({
      dryRun,
      ranges: Object.fromEntries(
        tags.map((tag) => [addressOf(tag), byTag.get(tag)!.map((index) => rangeOf(ranges[index]!))]),
      ),
    })
    try {
      const deleted = await send({ kind: 'correct', path: '/historian/delete/points', body }, (answer) =>
        countsOf(instance.historian, answer.body.deleted, tags.map(addressOf)),
      )
      tags.forEach((tag, i) => {
        settle(counts, byTag.get(tag)!, deleted[i]!)
      })
      break
    } catch (error) {
      // A tag that does not exist has nothing to delete: the others are, without it.
      const missing =
        error instanceof TidemarkError && error.code === 'TAG_NOT_FOUND' ? error.place.tag : undefined
      const tag = missing?.slice(instance.historian.length + 1)
      if (tag === undefined || !byTag.delete(tag)) throw error
    }
  }
  return counts
}

/**
 * Of a tag with one range, what was deleted is what it held; of several, points that came or went meanwhile count for
 * the last.
 */
function settle(counts: number[], indexes: readonly number[], deleted: number): void {
  const counted = indexes.reduce((sum, index) => sum + counts[index]!, 0)
  const last = indexes.findLast((index) => counts[index]! + deleted - counted >= 0) ?? indexes[0]!
  counts[last]! += deleted - counted
}

function rangeOf({ from, to }: TagRange) {
  return { from: timeText(from), to: timeText(to) }
}

/** Counts of the ranges of tags that have several, each without what the ones before hold; 0 for all others. */
async function countSeveral(
  instance: Instance,
  ranges: readonly TagRange[],
  byTag: ReadonlyMap<string, readonly number[]>,
  addressOf: (tag: string) => string,
  pagePoints: number,
  context: CallContext,
): Promise<number[]> {
  const asked: Asked[] = []
  for (const indexes of byTag.values()) {
    if (indexes.length < 2) continue
    const taken: TagRange[] = []
    for (const index of indexes) {
      for (const { tag, from, to } of without(ranges[index]!, taken))
        for (const request of countRequests(addressOf(tag), from, to)) asked.push({ index, request })
      taken.push(ranges[index]!)
    }
  }
  const counts = new Array<number>(ranges.length).fill(0)
  const requests = asked.map(({ request }) => request)
  const found = await countExactly(instance, requests, pagePoints, context)
  asked.forEach(({ index }, i) => {
    counts[index]! += found[i]!
  })
  return counts
}

/** The parts of a range that others do not cover. */
function without(range: TagRange, others: readonly TagRange[]): readonly TagRange[] {
  let parts: readonly TagRange[] = [range]
  for (const { from, to } of others) {
    parts = parts.flatMap((part) => {
      if (to <= part.from || from >= part.to) return [part]
      const left = { ...part, to: Math.min(part.to, from) as Instant }
      const right = { ...part, from: Math.max(part.from, to) as Instant }
      return [left, right].filter((side) => side.from < side.to)
    })
  }
  return parts
}
