import {
  AGGREGATE_NAMES,
  type AggregateName,
  aggregateOf,
  FIRST_AGGREGATE_NAMES,
} from '../series/aggregate-names.ts'
import { STATUS_BAD } from '../series/columns.ts'
import type { StatesOfWindows } from '../series/state-windows.ts'
import { createInstantFormatter } from '../time/format.ts'
import type { TimeZone } from '../time/zone.ts'
import { type Chunk, listChunks, numberText } from './answer-points.ts'
import type { BufferPool } from './buffer-pool.ts'
import { MillisWriter } from './json-bytes.ts'
import type { ShownAggregates } from './requests/asked-aggregates.ts'
import type { CutWindows } from './requests/request.ts'

/** An object for each window between edges; one that the range cuts says so. */
export function* aggregateRows(
  edges: Float64Array,
  aggregates: ShownAggregates,
  cut: CutWindows,
  zone: TimeZone,
): Generator<string> {
  const last = edges.length - 2
  const format = createInstantFormatter(zone)
  const fieldsOf = aggregateFields(aggregates, zone)
  yield '['
  for (let i = 0; i + 1 < edges.length; i++) {
    const range = `"from":"${format(edges[i]!)}","to":"${format(edges[i + 1]!)}"`
    const partial = isCut(i, last, cut) ? ',"partial":true' : ''
    yield `${i === 0 ? '' : ','}{${range}${partial}${fieldsOf(i)}}`
  }
  yield ']'
}

/**
 * Gives the fields of a window, each with a comma before it. The first fourteen aggregates are always there, null where
 * one was not asked for or cannot be computed; the others where they were asked for.
 */
export function aggregateFields(aggregates: ShownAggregates, zone: TimeZone): (window: number) => string {
  const format = createInstantFormatter(zone)
  const fields = fieldsOf(aggregates, FIRST_AGGREGATE_NAMES, (time) => `"${format(time)}"`)
  return (window) => {
    let text = ''
    for (const { name, textOf } of fields) text += `,"${name}":${textOf(window)}`
    return text
  }
}

/**
 * Times of windows and one array for each aggregate that was asked for, in one object; times are epoch milliseconds.
 */
export function* aggregateColumns(
  from: Float64Array,
  to: Float64Array,
  aggregates: ShownAggregates,
  cut: CutWindows,
  pool: BufferPool,
): Generator<Chunk> {
  yield '{'
  yield* rangeColumns(from, to, pool)
  if (cut.first || cut.last) {
    yield `,"partial":[${Array.from(from, (_, i) => isCut(i, from.length - 1, cut)).join(',')}]`
  }
  for (const { name, textOf } of fieldsOf(aggregates, [], millisText)) {
    yield `,"${name}":[`
    for (let i = 0; i < from.length; i++) yield i === 0 ? textOf(i) : `,${textOf(i)}`
    yield ']'
  }
  yield '}'
}

/** The fields `from`, `to` and `unit` of columns of ranges. */
export function* rangeColumns(from: Float64Array, to: Float64Array, pool: BufferPool): Generator<Chunk> {
  yield '"from":['
  yield* listChunks(from.length, new MillisWriter(from), pool)
  yield '],"to":['
  yield* listChunks(to.length, new MillisWriter(to), pool)
  yield '],"unit":"ms"'
}

function isCut(window: number, last: number, cut: CutWindows): boolean {
  return (cut.first && window === 0) || (cut.last && window === last)
}

const US_PER_SECOND = 1_000_000

interface Field {
  readonly name: string
  readonly textOf: (window: number) => string
}

/**
 * Aggregates as JSON, in the order of answers; the variance under both of its names where VAR was asked for.
 * @param always those that are null where they were not asked for
 */
function fieldsOf(
  { columns, withVar, states }: ShownAggregates,
  always: readonly AggregateName[],
  timeText: (time: number) => string,
): readonly Field[] {
  const shown = AGGREGATE_NAMES.filter((name) => columns[name] !== undefined || always.includes(name))
  const fields = shown.flatMap((name) => {
    const column = columns[name]
    const { shownAs } = aggregateOf(name)
    const textOf = (i: number): string => {
      if (column === undefined) return 'null'
      const value = column[i]!
      if (shownAs === undefined || Number.isNaN(value)) return numberText(value)
      return shownAs === 'time' ? timeText(value) : value === STATUS_BAD ? '"BAD"' : '"OK"'
    }
    const field = { name, textOf }
    return name === 'variance' && withVar ? [field, { name: 'var', textOf }] : [field]
  })
  return states === undefined ? fields : [...fields, { name: 'states', textOf: stateTexts(states) }]
}

/**
 * The states of a window as an object: every name of the tag, and that of values without one where there are some. It
 * is written as text, so that names stand in the order of their values, whatever they are.
 */
function stateTexts(states: StatesOfWindows | null): (window: number) => string {
  if (states === null) return () => 'null'
  const { names, windows } = states
  const keys = names.map((name) => JSON.stringify(name))
  const unmet = keys.slice(0, -1).map((key) => `${key}:{"seconds":0,"visits":0}`)
  return (window) => {
    const texts = [...unmet]
    for (const { state, us, visits } of windows[window]!) {
      texts[state] = `${keys[state]}:{"seconds":${us / US_PER_SECOND},"visits":${visits}}`
    }
    return `{${texts.join(',')}}`
  }
}

/** Microseconds as milliseconds, with a fraction where they are not whole. */
function millisText(time: number): string {
  return `${time / 1000}`
}
