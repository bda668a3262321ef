import type { CallContext, GapsQuery } from '../../historian/contract.ts'
import { GapFinder, type GapPage } from '../../series/gaps.ts'
import type { ReadColumns } from './native.ts'
import { quoteInt } from './quote.ts'
import type { SegmentReads, SegmentRow, SegmentStatement } from './segment-reads.ts'
import { tagId } from './tag-id.ts'

/**
 * A run of good points of a tag, none of which are too far apart, with what the server knows of the segment that it is
 * in. Points of the segment are counted for its first run alone.
 */
interface Run extends SegmentRow {
  /** Whether it is the first of its segment. */
  readonly isFirst: boolean
  readonly numGood: number
  readonly firstTime: number
  readonly lastTime: number
  readonly firstGoodTime: number
  readonly lastGoodTime: number
  /** Last good point of the run. */
  readonly end: number
  /** First good point of the next run, and whether a BAD one lies between; of no meaning for the last run. */
  readonly next: number
  readonly hasBadAfter: boolean
}

/**
 * Times without a good point: the server compares each good point with the next one, and sends where they are apart.
 */
export class GapReads {
  readonly #segments: SegmentReads

  constructor(segments: SegmentReads) {
    this.#segments = segments
  }

  async read(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    const found: GapPage[] = []
    const groups = Map.groupBy(
      queries.keys(),
      (index) => `${queries[index]!.from} ${queries[index]!.to} ${queries[index]!.longerThanUs}`,
    )
    for (const members of groups.values()) {
      const pages = await this.#gaps(
        members.map((index) => queries[index]!),
        context,
      )
      members.forEach((index, i) => {
        found[index] = pages[i]!
      })
    }
    return found
  }

  /** Of queries that differ in their tags and limits alone. */
  async #gaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    const { from, to, longerThanUs } = queries[0]!
    const finders = queries.map((query) => new GapFinder(query))
    const byTag = Map.groupBy(queries.keys(), (index) => queries[index]!.tag)
    // Pages of gaps are short, and many are full after the first segments.
    const isOpen = (tag: string) => byTag.get(tag)!.some((index) => !finders[index]!.isFull)
    const most = Math.max(...queries.map(({ limit }) => limit)) + 1
    const statement = runsBetweenGaps(longerThanUs, most)
    const edges = Float64Array.of(from, to)
    const portions = this.#segments.portions(byTag.keys(), edges, statement, context, isOpen)
    for await (const portion of portions) {
      for (const [tag, members] of byTag) {
        const runs = portion.get(tagId(tag).text) ?? []
        for (const index of members) addRuns(finders[index]!, runs)
      }
    }
    return finders.map((finder) => finder.finish())
  }
}

/** The runs of each tag, in their order; no more gaps of a segment than the longest page needs. */
function runsBetweenGaps(longerThanUs: number, most: number): SegmentStatement<typeof KINDS, Run> {
  const isGap = `t1 - t0 > ${quoteInt(longerThanUs)}`
  // Each good point with the one after it; lambdas see these arrays alone, since what else they name is copied for
  // each element.
  const pairs = 'arrayPopBack(times_), arrayPopFront(times_)'
  return {
    kinds: KINDS,
    isBuffered: true,
    sql: (grouped) => {
      const sorted = grouped(
        'count() AS count_, min(time) AS firstTime_, max(time) AS lastTime_, arraySort(groupArray(time)) AS all_, ' +
          'arraySort((one, at) -> at, groupArray(status), groupArray(time)) AS statuses_',
      )
      const good =
        'SELECT tag, window_, count_, firstTime_, lastTime_, ' +
        'arrayFilter((at, status) -> status = 0, all_, statuses_) AS times_, ' +
        `arrayFilter((place, status) -> status = 0, arrayEnumerate(all_), statuses_) AS places_ FROM (${sorted})`
      const gaps =
        'SELECT tag, window_, count_, length(times_) AS good_, firstTime_, lastTime_, times_[1] AS firstGood_, times_[-1] AS lastGood_, ' +
        `arrayConcat(arraySlice(arrayFilter((t0, t1) -> ${isGap}, ${pairs}), 1, ${most}), [times_[-1]]) AS ends_, ` +
        `arrayConcat(arraySlice(arrayFilter((t1, t0) -> ${isGap}, arrayPopFront(times_), arrayPopBack(times_)), 1, ${most}), [toInt64(0)]) AS nexts_, ` +
        'arrayConcat(arraySlice(arrayFilter((bad, t0, t1) -> ' +
        `${isGap}, arrayMap((p, q) -> q - p > 1, arrayPopBack(places_), arrayPopFront(places_)), ${pairs}), 1, ${most}), [toUInt8(0)]) AS bads_ ` +
        `FROM (${good})`
      return (
        `SELECT ${Object.keys(KINDS).join(', ')} FROM (${gaps}) ` +
        'ARRAY JOIN ends_ AS end_, nexts_ AS next_, bads_ AS bad_ ORDER BY tag, window_, end_'
      )
    },
    rowsOf,
  }
}

function rowsOf(rows: ReadColumns<typeof KINDS>): readonly Run[] {
  return Array.from({ length: rows.rows }, (_, i) => {
    const isFirst = i === 0 || rows.tag[i] !== rows.tag[i - 1] || rows.window_[i] !== rows.window_[i - 1]
    return {
      id: String(rows.tag[i]),
      isFirst,
      count: isFirst ? rows.count_[i]! : 0,
      numGood: rows.good_[i]!,
      firstTime: rows.firstTime_[i]!,
      lastTime: rows.lastTime_[i]!,
      firstGoodTime: rows.firstGood_[i]!,
      lastGoodTime: rows.lastGood_[i]!,
      end: rows.end_[i]!,
      next: rows.next_[i]!,
      hasBadAfter: rows.bad_[i]! > 0,
    }
  })
}

const KINDS = {
  tag: 'bigint',
  window_: 'number',
  count_: 'number',
  good_: 'number',
  firstTime_: 'number',
  lastTime_: 'number',
  firstGood_: 'number',
  lastGood_: 'number',
  end_: 'number',
  next_: 'number',
  bad_: 'number',
} as const

/** A summary of points that have no gaps between them. */
const NONE_BETWEEN = { count: 1, numGood: 1, longestGap: 0 }
const BAD_POINTS = {
  count: 1,
  numGood: 0,
  firstTime: Number.NaN,
  lastTime: Number.NaN,
  firstGoodTime: Number.NaN,
  lastGoodTime: Number.NaN,
}

/** Feeds a finder with the runs of a segment. */
function addRuns(finder: GapFinder, runs: readonly Run[]): void {
  let start = Number.NaN
  for (const run of runs) {
    if (run.numGood === 0) {
      finder.addSummary(BAD_POINTS)
      continue
    }
    if (run.isFirst) start = run.firstGoodTime
    const isLast = run.end === run.lastGoodTime
    finder.addSummary({
      ...NONE_BETWEEN,
      firstTime: run.isFirst ? run.firstTime : start,
      firstGoodTime: start,
      lastGoodTime: run.end,
      lastTime: isLast ? run.lastTime : run.end,
    })
    if (!isLast && run.hasBadAfter) finder.addSummary(BAD_POINTS)
    start = run.next
  }
}
