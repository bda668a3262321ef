import type { CallContext, FindPoint, Neighbours, PointQuery } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { US_PER_DAY, US_PER_HOUR } from '../../time/instant.ts'
import { DELETED, type PointTable, rangeCondition } from './point-table.ts'
import { tagId } from './tag-id.ts'
import { pieces } from './windows-sql.ts'

/**
 * How far from an instant a point is looked for, one query after the other, until it is found. The server reads all rows of
 * a tag between the two, so a step is long enough for what is usual and short enough for a tag with a point a second.
 */
const STEPS_US = [US_PER_HOUR, 2 * US_PER_DAY, 60 * US_PER_DAY, Number.POSITIVE_INFINITY]

/** Times of the last points of tags, kept of so many tags. */
const MAX_LAST_TIMES = 200_000

/** Tags and windows in one query. */
const MAX_TAGS = 2_000

/** Points next to instants: current values, and the neighbours that interpolation needs. */
export class NeighbourReads {
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
    const searches = queries.map(({ tag, find, at }) => new Search(tag, find, at, this.#lastTimes.get(tag)))
    await this.#run(searches, false, context)
    searches.forEach((search, i) => {
      if (Number.isNaN(search.time)) return
      found.times[i] = search.time
      found.values[i] = search.value
      found.statuses[i] = search.status
      if (search.isBackward) this.#remember(search.tag, search.time)
    })
    return found
  }

  /**
   * The good points around a span, given its start and its end or one time for both: at or before the start in the first
   * place, at or after the end in the last. What lies between is not looked for.
   */
  async outside(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly Neighbours[]> {
    const found = tags.map(() => noNeighbours(times.length))
    const last = times.length - 1
    const before = tags.map((tag) => new Search(tag, 'before-or-at', times[0]!, undefined))
    const after = tags.map((tag) => new Search(tag, 'after-or-at', times[last]!, undefined))
    await this.#run([...before, ...after], true, context)
    found.forEach(({ beforeTimes, beforeValues, afterTimes, afterValues }, i) => {
      beforeTimes[0] = before[i]!.time
      beforeValues[0] = before[i]!.value
      afterTimes[last] = after[i]!.time
      afterValues[last] = after[i]!.value
    })
    return found
  }

  async neighbours(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly Neighbours[]> {
    const found = tags.map(() => noNeighbours(times.length))
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
        searches.push({ search: new Search(tag, 'before-or-at', first, undefined), into: before[i]! })
      }
      if (found[i]!.afterTimes[times.length - 1] !== last) {
        searches.push({ search: new Search(tag, 'after-or-at', last, undefined), into: after[i]! })
      }
    })
    await this.#run(
      searches.map(({ search }) => search),
      true,
      context,
    )
    for (const { search, into } of searches) {
      into.time = search.time
      into.value = search.value
    }
    found.forEach((neighbours, i) => {
      fillOutside(neighbours, before[i]!, after[i]!)
      // The last time lies in no stretch; a point of its own was found behind the stretches.
      const end = times.length - 1
      if (neighbours.afterTimes[end] === last) {
        neighbours.beforeTimes[end] = last
        neighbours.beforeValues[end] = neighbours.afterValues[end]!
      }
    })
    return found
  }

  /** Points between the first and the last time: of each stretch between two times the first and the last good one. */
  async #between(
    tags: readonly string[],
    times: Float64Array,
    found: readonly Neighbours[],
    context: CallContext,
  ): Promise<void> {
    const indexes = new Map<string, number[]>()
    tags.forEach((tag, i) => {
      indexes.getOrInsertComputed(tagId(tag).text, () => []).push(i)
    })
    const ids = [...indexes.keys()]
    for (const { edges, sql, start } of pieces(times)) {
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
          const at = start + rows.window_[row]!
          for (const index of indexes.get(String(rows.tag[row])) ?? []) {
            const { beforeTimes, beforeValues, afterTimes, afterValues } = found[index]!
            const firstTime = rows.first_[row]!
            afterTimes[at] = firstTime
            afterValues[at] = rows.firstValue_[row]!
            if (firstTime === times[at]) {
              beforeTimes[at] = firstTime
              beforeValues[at] = rows.firstValue_[row]!
            }
            // What a stretch ends with is before the next time, unless that has a point of its own.
            if (at + 1 < times.length && beforeTimes[at + 1] !== times[at + 1]) {
              beforeTimes[at + 1] = rows.last_[row]!
              beforeValues[at + 1] = rows.lastValue_[row]!
            }
          }
        }
      }
    }
  }

  /** Runs searches side by side until each has found its point or come to the end of time. */
  async #run(searches: readonly Search[], goodOnly: boolean, context: CallContext): Promise<void> {
    for (;;) {
      const open = searches.filter(({ isOpen }) => isOpen)
      if (open.length === 0) return
      for (let from = 0; from < open.length; from += MAX_TAGS) {
        context.signal.throwIfAborted()
        await this.#step(open.slice(from, from + MAX_TAGS), goodOnly, context)
      }
    }
  }

  async #step(searches: readonly Search[], goodOnly: boolean, context: CallContext): Promise<void> {
    const groups = new Map<string, Search[]>()
    for (const search of searches) {
      groups.getOrInsertComputed(search.groupKey(goodOnly), () => []).push(search)
    }
    const list = [...groups.values()]
    for (let from = 0; from < list.length; from += MAX_GROUPS) {
      const slice = list.slice(from, from + MAX_GROUPS)
      const rows = await this.#points.servers.read(
        'read',
        slice.map((group, number) => this.#sql(group, number, goodOnly)).join(' UNION ALL '),
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

  #sql(group: readonly Search[], number: number, goodOnly: boolean): string {
    const { isBackward, from, to, isExact } = group[0]!
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

/** SELECTs in one query. */
const MAX_GROUPS = 50

/** All of time, as far as an Int64 goes. */
const FAR = 9e18

/** The search for one point: the window that is looked through next. */
class Search {
  readonly tag: string
  readonly isBackward: boolean
  /** The window, [from, to). */
  from: number
  to: number
  /** Whether deleted points are left out from the beginning: after one was met. */
  isExact = false
  isOpen = true
  time = Number.NaN
  value = Number.NaN
  status = 0
  /** The end of the search on the near side. */
  readonly #near: number
  #step = 0

  constructor(tag: string, find: FindPoint, at: number, lastTime: number | undefined) {
    this.tag = tag
    this.isBackward = find === 'before' || find === 'before-or-at'
    if (this.isBackward) {
      this.#near = find === 'before' ? at : at + 1
      this.to = this.#near
      this.from = this.#near - STEPS_US[0]!
      // A point that was there before: no window has to begin earlier, and most begin much later.
      const isUsable = lastTime !== undefined && lastTime < this.#near
      if (isUsable && lastTime > this.#near - STEPS_US[2]!) this.from = lastTime
    } else {
      this.#near = find === 'after' ? at + 1 : at
      this.from = this.#near
      // There is little beyond the present.
      const isRecent = this.#near > Date.now() * 1_000 - US_PER_DAY
      this.to = isRecent ? FAR : this.#near + STEPS_US[0]!
    }
  }

  /** Equal for searches that one SELECT can answer. */
  groupKey(goodOnly: boolean): string {
    return `${this.isBackward} ${this.from} ${this.to} ${goodOnly || this.isExact}`
  }

  found(time: number, value: number, status: number): void {
    if (status === DELETED) {
      this.isExact = true
      return
    }
    this.time = time
    this.value = value
    this.status = status
    this.isOpen = false
  }

  /** There is none in the window: the next one lies beyond it. */
  missed(): void {
    const reach = this.isBackward ? this.#near - this.from : this.to - this.#near
    while (this.#step < STEPS_US.length && STEPS_US[this.#step]! <= reach) this.#step++
    if (this.#step >= STEPS_US.length || reach >= FAR / 2) {
      this.isOpen = false
      return
    }
    const step = STEPS_US[this.#step]!
    if (this.isBackward) {
      this.to = this.from
      this.from = Number.isFinite(step) ? this.#near - step : -FAR
    } else {
      this.from = this.to
      this.to = Number.isFinite(step) ? this.#near + step : FAR
    }
  }
}

function noNeighbours(length: number): Neighbours {
  const none = () => new Float64Array(length).fill(Number.NaN)
  return { beforeTimes: none(), beforeValues: none(), afterTimes: none(), afterValues: none() }
}

interface Edge {
  readonly time: number
  readonly value: number
}

/** Carries what is known at some times to those between, and the points beyond the first and the last time to the rest. */
function fillOutside(neighbours: Neighbours, before: Edge, after: Edge): void {
  const { beforeTimes, beforeValues, afterTimes, afterValues } = neighbours
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
