import type { CallContext, CountedRange, RangeQuery, RangeResult } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { Comparisons } from '../../series/reads.ts'
import { type ComparedPoints, classSql, comparedPoints } from './comparison-sql.ts'
import { type PointTable, rangeCondition } from './point-table.ts'
import { quoteInt } from './quote.ts'
import type { RangeReads } from './range-reads.ts'
import type { SegmentReads } from './segment-reads.ts'
import { tagId } from './tag-id.ts'

/** Thresholds that a statement compares each point with; with more of them all points are read. */
const MAX_THRESHOLDS = 50

/** Rows of a range up to which nothing is gained by leaving points out. */
const FEW_ROWS = 4_096

/** Rows that are compared first: a page of points that all are needed is found among them. */
const FIRST_ROWS = 100_000

/** Rows that an estimate takes together, as evenly dense as they are. */
const BLOCK_ROWS = 1_024

type Compared<Range> = Range & { readonly compared: Comparisons }

/**
 * Ranges of which points may be left out that make no difference to comparisons, beside ranges of all points: the
 * server sends the points at which a comparison changes and those on both sides of a gap.
 */
export class ComparedReads {
  readonly #points: PointTable
  readonly #segments: SegmentReads
  readonly #ranges: RangeReads

  constructor(points: PointTable, segments: SegmentReads, ranges: RangeReads) {
    this.#points = points
    this.#segments = segments
    this.#ranges = ranges
  }

  read(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return inGroups(
      queries,
      (all) => this.#ranges.read(all, context),
      (group) => this.#read(group, context),
    )
  }

  /** Upper bounds of how many points `read` gives. */
  count(ranges: readonly CountedRange[], context: CallContext): Promise<readonly number[]> {
    return inGroups(
      ranges,
      (all) => this.#ranges.count(all, context),
      (group) => this.#count(group, context),
    )
  }

  /** Of the same time and comparisons. */
  async #read(
    queries: readonly Compared<RangeQuery>[],
    context: CallContext,
  ): Promise<readonly RangeResult[]> {
    const { from, to, compared } = queries[0]!
    if (from >= to) return queries.map(() => ({ points: makeColumns(0), more: false }))
    const pages = queries.map(({ limit }) => new ComparedPage(limit, compared.maxGapUs))
    const byTag = Map.groupBy(queries.keys(), (index) => queries[index]!.tag)
    const isOpen = (tag: string) => byTag.get(tag)!.some((index) => !pages[index]!.isFull)
    const most = Math.max(...queries.map(({ limit }) => limit)) + 1
    const portions = this.#segments.portions(
      byTag.keys(),
      Float64Array.of(from, to),
      comparedPoints(compared, most, FIRST_ROWS),
      context,
      isOpen,
    )
    for await (const portion of portions) {
      for (const [tag, members] of byTag) {
        for (const points of portion.get(tagId(tag).text) ?? []) {
          for (const index of members) pages[index]!.add(points)
        }
      }
    }
    return pages.map((page) => page.result())
  }

  /**
   * Blocks of time whose points all compare alike count two, with `maxGapUs` what gaps and their length may cost; all
   * others count all of their rows. Versions of points need not be distinguished for an upper bound.
   */
  async #count(ranges: readonly Compared<CountedRange>[], context: CallContext): Promise<readonly number[]> {
    const { from, to, compared } = ranges[0]!
    const stats = await this.#points.stats(ranges, context)
    const rows = Math.max(...stats.map((one) => one.rows))
    const counts = stats.map((one) => one.rows)
    if (rows <= FEW_ROWS) return counts
    const firstTime = Math.min(...stats.flatMap((one) => (one.rows > 0 ? [one.firstTime] : [])))
    const lastTime = Math.max(...stats.flatMap((one) => (one.rows > 0 ? [one.lastTime] : [])))
    const blockUs = Math.max(1, Math.ceil(((lastTime - firstTime + 1) / rows) * BLOCK_ROWS))
    const { maxGapUs } = compared
    const most = maxGapUs === undefined ? '2' : String(2 + 3 * Math.ceil(blockUs / maxGapUs))
    const ids = new Set(ranges.map(({ tag }) => tagId(tag).text))
    const condition = rangeCondition(ids, from, to)
    const blocks =
      'SELECT tag, count() AS rows_, countIf(status != 0) AS others_, ' +
      `min(${classSql('value', compared.thresholds)}) AS least_, max(${classSql('value', compared.thresholds)}) AS greatest_ ` +
      `FROM ${this.#points.table} WHERE ${condition} GROUP BY tag, intDiv(time - ${quoteInt(firstTime)}, ${quoteInt(blockUs)})`
    const found = await this.#points.servers.read(
      'read',
      `SELECT tag, sum(if(least_ = greatest_ AND others_ = 0, least(rows_ + 2, ${most}), rows_)) AS points_ ` +
        `FROM (${blocks}) GROUP BY tag`,
      { tag: 'bigint', points_: 'number' },
      context,
    )
    const byId = new Map(Array.from(found.points_, (count, i) => [String(found.tag[i]), count]))
    // Each segment that `read` cuts a range into gives its first and its last point.
    const ends = 2 * Math.ceil(stats.reduce((sum, one) => sum + one.rows, 0) / FIRST_ROWS)
    return ranges.map(({ tag }, i) => Math.min(counts[i]!, (byId.get(tagId(tag).text) ?? counts[i]!) + ends))
  }
}

/** Answers ranges without comparisons together, and those with equal ones and of the same time. */
async function inGroups<Range extends CountedRange & Partial<Pick<RangeQuery, 'order'>>, Result>(
  ranges: readonly Range[],
  readAll: (ranges: readonly Range[]) => Promise<readonly Result[]>,
  readCompared: (ranges: readonly Compared<Range>[]) => Promise<readonly Result[]>,
): Promise<readonly Result[]> {
  const groups = Map.groupBy(ranges.keys(), (index) => {
    const { compared, order, from, to } = ranges[index]!
    if (compared === undefined || order === 'desc' || compared.thresholds.length > MAX_THRESHOLDS) return ''
    return `${from} ${to} ${compared.thresholds} ${compared.maxGapUs}`
  })
  const found: Result[] = []
  for (const [key, members] of groups) {
    const group = members.map((index) => ranges[index]!)
    const results = key === '' ? await readAll(group) : await readCompared(group as Compared<Range>[])
    members.forEach((index, i) => {
      found[index] = results[i]!
    })
  }
  return found
}

/** The points of one range, until there is one more than its limit. */
class ComparedPage {
  readonly #limit: number
  readonly #maxGapUs: number
  #points: PointColumns = makeColumns(256)
  #length = 0

  constructor(limit: number, maxGapUs = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#maxGapUs = maxGapUs
  }

  get isFull(): boolean {
    return this.#length > this.#limit
  }

  add({ times, values, statuses, places }: ComparedPoints): void {
    for (let i = 0; i < times.length && !this.isFull; i++) {
      if (i > 0 && places[i]! - places[i - 1]! > 1) this.#fill(times[i - 1]!, times[i]!, values[i - 1]!)
      this.#add(times[i]!, values[i]!, statuses[i]!)
    }
  }

  result(): RangeResult {
    const more = this.isFull
    const { times, values, statuses } = sliceColumns(this.#points, 0, more ? this.#limit : this.#length)
    // Little in a lot of memory would keep all of it.
    return { points: { times: times.slice(), values: values.slice(), statuses: statuses.slice() }, more }
  }

  /** Where points were left out none was too far from the next one: others stand for them that are not, either. */
  #fill(from: number, to: number, value: number): void {
    for (let time = from + this.#maxGapUs; time < to && !this.isFull; time += this.#maxGapUs) {
      this.#add(time, value, 0)
    }
  }

  #add(time: number, value: number, status: number): void {
    const points = this.#points
    if (this.#length === points.times.length) {
      this.#points = makeColumns(2 * this.#length)
      for (const name of ['times', 'values', 'statuses'] as const) this.#points[name].set(points[name])
    }
    const { times, values, statuses } = this.#points
    times[this.#length] = time
    values[this.#length] = value
    statuses[this.#length++] = status
  }
}
