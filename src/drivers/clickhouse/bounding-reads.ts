import type { BoundingValues, CallContext, FindPoint, PointQuery } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { Search } from './point-search.ts'
import { DELETED, type PointTable, rangeCondition } from './point-table.ts'
import { tagId } from './tag-id.ts'
import { chunks } from './windows-sql.ts'

/** Times of the last points of tags, kept of so many tags. */
const MAX_LAST_TIMES = 200_000

/** Tags and windows in one query. */
const MAX_TAGS = 2_000

/** Where the points beside a range are looked for; `null` for those that are not wanted. */
export interface BesideTimes {
  /** Before it. */
  readonly rawBefore: number | null
  /** At or before it. */
  readonly goodBefore: number | null
  /** At or after it. */
  readonly goodAfter: number | null
}

/** The points beside a range; `null` where there is none. */
export type Beside = { readonly [side in keyof BesideTimes]: FoundPoint | null }

interface FoundPoint {
  readonly time: number
  readonly value: number
  readonly status: number
}

/** Points next to instants: current values, and the bounding values that interpolation needs. */
export class BoundingReads {
  readonly #points: PointTable
  /** Where the last point before some instant was found: the next search for a later one begins there. */
  readonly #lastTimes = new Map<string, number>()

  constructor(points: PointTable) {
    this.#points = points
  }

  /** One raw point for each query, BAD ones too; NaN where there is none. */
  async points(queries: readonly PointQuery[], context: CallContext): Promise<PointColumns> {
    const found = makeColumns(queries.length)
    found.times.fill(Number.NaN)
    found.values.fill(Number.NaN)
    const searches = queries.map(
      ({ tag, find, at }) => new Search(tag, find, at, { lastTime: this.#lastTimes.get(tag) }),
    )
    await this.#run(searches, context)
    searches.forEach((search, i) => {
      if (Number.isNaN(search.time)) return
      found.times[i] = search.time
      found.values[i] = search.value
      found.statuses[i] = search.status
      if (search.isBackward) this.#remember(search.tag, search.time)
    })
    return found
  }

  /** The points of each tag beside a range; what is looked for one query finds for all, where it is near. */
  async beside(
    tags: readonly string[],
    { rawBefore, goodBefore, goodAfter }: BesideTimes,
    context: CallContext,
  ): Promise<readonly Beside[]> {
    const searches: Search[] = []
    const search = (tag: string, find: FindPoint, at: number | null, goodOnly: boolean) => {
      if (at === null) return null
      const one = new Search(tag, find, at, { goodOnly })
      searches.push(one)
      return one
    }
    const found = tags.map((tag) => ({
      rawBefore: search(tag, 'before', rawBefore, false),
      goodBefore: search(tag, 'before-or-at', goodBefore, true),
      goodAfter: search(tag, 'after-or-at', goodAfter, true),
    }))
    await this.#run(searches, context)
    const pointOf = (one: Search | null) => (one === null || Number.isNaN(one.time) ? null : one)
    return found.map((one) => ({
      rawBefore: pointOf(one.rawBefore),
      goodBefore: pointOf(one.goodBefore),
      goodAfter: pointOf(one.goodAfter),
    }))
  }

  async boundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    const found = tags.map(() => noBoundingValues(times.length))
    if (times.length === 0 || tags.length === 0) return found
    const before = tags.map(() => ({ time: Number.NaN, value: Number.NaN }))
    const after = tags.map(() => ({ time: Number.NaN, value: Number.NaN }))
    const first = times[0]!
    const last = times[times.length - 1]!
    if (times.length > 1) await this.#between(tags, times, found, context)
    const searches: { readonly search: Search; readonly into: { time: number; value: number } }[] = []
    tags.forEach((tag, i) => {
      // Each time that has a point of its own needs no other on that side.
      if (found[i]!.beforeTimes[0] !== first) {
        searches.push({ search: new Search(tag, 'before-or-at', first, GOOD_ONLY), into: before[i]! })
      }
      if (found[i]!.afterTimes[times.length - 1] !== last) {
        searches.push({ search: new Search(tag, 'after-or-at', last, GOOD_ONLY), into: after[i]! })
      }
    })
    await this.#run(
      searches.map(({ search }) => search),
      context,
    )
    for (const { search, into } of searches) {
      into.time = search.time
      into.value = search.value
    }
    found.forEach((boundingValues, i) => {
      fillOutside(boundingValues, before[i]!, after[i]!)
      // The last time lies in no segment; a point of its own was found behind the segments.
      const end = times.length - 1
      if (boundingValues.afterTimes[end] === last) {
        boundingValues.beforeTimes[end] = last
        boundingValues.beforeValues[end] = boundingValues.afterValues[end]!
      }
    })
    return found
  }

  /** Points between the first and the last time: of each segment between two times the first and the last good one. */
  async #between(
    tags: readonly string[],
    times: Float64Array,
    found: readonly BoundingValues[],
    context: CallContext,
  ): Promise<void> {
    const indexes = new Map<string, number[]>()
    tags.forEach((tag, i) => {
      indexes.getOrInsertComputed(tagId(tag).text, () => []).push(i)
    })
    const ids = [...indexes.keys()]
    const { edges: allEdges, places } = withoutInstants(times)
    for (const { edges, sql, start } of chunks(allEdges)) {
      for (let from = 0; from < ids.length; from += MAX_TAGS) {
        context.signal.throwIfAborted()
        const condition = rangeCondition(
          ids.slice(from, from + MAX_TAGS),
          edges[0]!,
          edges[edges.length - 1]!,
        )
        const rows = await this.#points.servers.read(
          'read',
          `SELECT tag, ${sql} AS window_, min(time) AS first_, argMin(value, time) AS firstValue_, ` +
            `max(time) AS last_, argMax(value, time) AS lastValue_ FROM ${this.#points.table} FINAL ` +
            `WHERE ${condition} AND status = 0 GROUP BY tag, window_`,
          {
            tag: 'bigint',
            window_: 'number',
            first_: 'number',
            firstValue_: 'number',
            last_: 'number',
            lastValue_: 'number',
          },
          context,
        )
        for (let row = 0; row < rows.rows; row++) {
          const window = start + rows.window_[row]!
          const first = { time: rows.first_[row]!, value: rows.firstValue_[row]! }
          const last = { time: rows.last_[row]!, value: rows.lastValue_[row]! }
          const at = places[window]!
          const instant = places[window + 1]! - 1
          for (const index of indexes.get(String(rows.tag[row])) ?? []) {
            const hasOwn = instant > at && last.time === times[instant]
            if (!hasOwn || first.time < last.time) takeSegment(found[index]!, times, at, first, last)
            if (hasOwn) takeSegment(found[index]!, times, instant, last, last)
          }
        }
      }
    }
  }

  /** Runs searches side by side until each has found its point or come to the end of time. */
  async #run(searches: readonly Search[], context: CallContext): Promise<void> {
    for (;;) {
      const open = searches.filter(({ isOpen }) => isOpen)
      if (open.length === 0) return
      for (let from = 0; from < open.length; from += MAX_TAGS) {
        context.signal.throwIfAborted()
        await this.#step(open.slice(from, from + MAX_TAGS), context)
      }
    }
  }

  async #step(searches: readonly Search[], context: CallContext): Promise<void> {
    const groups = new Map<string, Search[]>()
    for (const search of searches) {
      groups.getOrInsertComputed(search.groupKey(), () => []).push(search)
    }
    const list = [...groups.values()]
    for (let from = 0; from < list.length; from += MAX_GROUPS) {
      const slice = list.slice(from, from + MAX_GROUPS)
      const rows = await this.#points.servers.read(
        'read',
        slice.map((group, number) => this.#sql(group, number)).join(' UNION ALL '),
        { group_: 'number', tag: 'bigint', time_: 'number', value_: 'number', status_: 'number' },
        context,
      )
      const found = new Map<string, number>()
      for (let row = 0; row < rows.rows; row++) found.set(`${rows.group_[row]} ${rows.tag[row]}`, row)
      slice.forEach((group, number) => {
        for (const search of group) {
          const row = found.get(`${number} ${tagId(search.tag).text}`)
          if (row === undefined) search.missed()
          else search.found(rows.time_[row]!, rows.value_[row]!, rows.status_[row]!)
        }
      })
    }
  }

  #sql(group: readonly Search[], number: number): string {
    const { isBackward, from, to, isExact, goodOnly } = group[0]!
    const ids = new Set(group.map(({ tag }) => tagId(tag).text))
    const condition = rangeCondition(ids, from, to)
    const head = `SELECT toUInt32(${number}) AS group_, tag`
    const { table } = this.#points
    const [end, pick] = isBackward ? ['max', 'argMax'] : ['min', 'argMin']
    if (goodOnly || isExact) {
      return (
        `${head}, ${end}(time) AS time_, ${pick}(value, time) AS value_, ${pick}(status, time) AS status_ ` +
        `FROM ${table} FINAL WHERE ${condition} AND status < ${goodOnly ? STATUS_BAD : DELETED} GROUP BY tag`
      )
    }
    // The last version of the nearest point; where that is deleted the search goes on exactly.
    const rank = isBackward ? '(time, version)' : '(-time, version)'
    return (
      `${head}, ${end}(time) AS time_, argMax(value, ${rank}) AS value_, argMax(status, ${rank}) AS status_ ` +
      `FROM ${table} WHERE ${condition} GROUP BY tag`
    )
  }

  #remember(tag: string, time: number): void {
    if (this.#lastTimes.size >= MAX_LAST_TIMES) this.#lastTimes.clear()
    this.#lastTimes.set(tag, time)
  }
}

const GOOD_ONLY = { goodOnly: true }

/** SELECTs in one query. */
const MAX_GROUPS = 50

function noBoundingValues(length: number): BoundingValues {
  const none = () => new Float64Array(length).fill(Number.NaN)
  return { beforeTimes: none(), beforeValues: none(), afterTimes: none(), afterValues: none() }
}

/**
 * Times without those that are a microsecond before the next one, such as the last ones of windows: what lies between
 * the two is the last point before the later one, or nothing. Segments then are an even grid where windows are.
 */
function withoutInstants(times: Float64Array): { edges: Float64Array; places: readonly number[] } {
  const places: number[] = []
  for (let i = 0; i < times.length; i++) {
    // The first time stays, and one right behind one that was left out.
    const isLeftOut = i > 0 && times[i + 1] === times[i]! + 1 && places.at(-1) === i - 1
    if (!isLeftOut) places.push(i)
  }
  return { edges: Float64Array.from(places, (i) => times[i]!), places }
}

/** The first and the last good point between a time and the next one. */
function takeSegment(
  boundingValues: BoundingValues,
  times: Float64Array,
  at: number,
  first: Edge,
  last: Edge,
): void {
  const { beforeTimes, beforeValues, afterTimes, afterValues } = boundingValues
  afterTimes[at] = first.time
  afterValues[at] = first.value
  if (first.time === times[at]) {
    beforeTimes[at] = first.time
    beforeValues[at] = first.value
  }
  // What a segment ends with is before the next time, unless that has a point of its own.
  if (at + 1 < times.length && beforeTimes[at + 1] !== times[at + 1]) {
    beforeTimes[at + 1] = last.time
    beforeValues[at + 1] = last.value
  }
}

interface Edge {
  readonly time: number
  readonly value: number
}

/**
 * Carries what is known at some times to those between, and the points beyond the first and the last time to the rest.
 */
function fillOutside(boundingValues: BoundingValues, before: Edge, after: Edge): void {
  const { beforeTimes, beforeValues, afterTimes, afterValues } = boundingValues
  let { time, value } = before
  for (let i = 0; i < beforeTimes.length; i++) {
    if (Number.isNaN(beforeTimes[i]!)) {
      beforeTimes[i] = time
      beforeValues[i] = value
    } else {
      time = beforeTimes[i]!
      value = beforeValues[i]!
    }
  }
  ;({ time, value } = after)
  for (let i = afterTimes.length - 1; i >= 0; i--) {
    if (Number.isNaN(afterTimes[i]!)) {
      afterTimes[i] = time
      afterValues[i] = value
    } else {
      time = afterTimes[i]!
      value = afterValues[i]!
    }
  }
}
