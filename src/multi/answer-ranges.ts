import {
  AGGREGATE_NAMES,
  type AggregateName,
  aggregateOf,
  FIRST_AGGREGATE_NAMES,
} from '../series/aggregate-names.ts'
import { STATUS_BAD } from '../series/columns.ts'
import type { StatesOfWindows } from '../series/state-windows.ts'
import { createInstantFormatter } from '../time/format.ts'
import { US_PER_SECOND } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import { type AnswerWriter, numberText } from './answer-writer.ts'
import type { ShownAggregates } from './requests/asked-aggregates.ts'
import type { Result } from './requests/request.ts'

/** Ranges with fields: windows of aggregates, intervals or gaps. */
interface RangeTable {
  readonly from: Float64Array
  readonly to: Float64Array
  readonly fields: readonly Field[]
  /** Aggregates of another tag over the same ranges. */
  readonly aggregates?: RangeTable
}

interface Field {
  readonly name: string
  /** As JSON; `null` where a row has no such field. */
  readonly textOf: (index: number) => string | null
}

type RangesResult = Extract<Result, { readonly kind: 'aggregates' | 'intervals' | 'gaps' }>

/**
 * Writes ranges as an array of objects, or as an object with an array for each field; times of columns are epoch
 * milliseconds.
 */
export function* writeRanges(
  out: AnswerWriter,
  result: RangesResult,
  format: 'points' | 'columns',
  zone: TimeZone,
): Generator<void> {
  const timeText = createInstantFormatter(zone)
  if (format === 'columns') return yield* writeColumns(out, tableOf(result, 'columns', millisText))
  const table = tableOf(result, 'points', (time) => `"${timeText(time)}"`)
  const rowOf = ({ from, to, fields, aggregates }: RangeTable, i: number): string => {
    let text = `{"from":"${timeText(from[i]!)}","to":"${timeText(to[i]!)}"`
    for (const { name, textOf } of fields) {
      const value = textOf(i)
      if (value !== null) text += `,"${name}":${value}`
    }
    return aggregates === undefined ? `${text}}` : `${text},"aggregates":${rowOf(aggregates, i)}}`
  }
  yield* out.array(table.from.length, (i) => rowOf(table, i))
}

function* writeColumns(out: AnswerWriter, { from, to, fields, aggregates }: RangeTable): Generator<void> {
  out.text('{"from":')
  yield* out.millis(from)
  out.text(',"to":')
  yield* out.millis(to)
  out.text(',"unit":"ms"')
  for (const { name, textOf } of fields) yield* out.texts(name, from.length, (i) => textOf(i) ?? 'false')
  if (aggregates !== undefined) {
    out.text(',"aggregates":')
    yield* writeColumns(out, aggregates)
  }
  out.text('}')
}

function tableOf(
  result: RangesResult,
  format: 'points' | 'columns',
  timeText: (time: number) => string,
): RangeTable {
  // Aggregates that were not asked for are null in rows, and left out of columns.
  const always = format === 'columns' ? [] : FIRST_AGGREGATE_NAMES
  if (result.kind === 'gaps') {
    const { from, to, bad } = result.gaps
    return { from, to, fields: [flagField('kind', bad, '"bad"', '"missing"')] }
  }
  if (result.kind === 'aggregates') {
    const { edges, aggregates, cut } = result
    const last = edges.length - 2
    const isCut = (i: number) => (cut.first && i === 0) || (cut.last && i === last)
    const partial = { name: 'partial', textOf: (i: number) => (isCut(i) ? 'true' : null) }
    return {
      from: edges.subarray(0, -1),
      to: edges.subarray(1),
      fields: [...(cut.first || cut.last ? [partial] : []), ...aggregateFields(aggregates, always, timeText)],
    }
  }
  const { intervals, aggregates } = result
  const { from, to, openStart, openEnd } = intervals
  const fields = [flagField('openStart', openStart), flagField('openEnd', openEnd)]
  if (aggregates === null) return { from, to, fields }
  return { from, to, fields, aggregates: { from, to, fields: aggregateFields(aggregates, always, timeText) } }
}

function flagField(name: string, flags: Uint8Array, set = 'true', unset = 'false'): Field {
  return { name, textOf: (i) => (flags[i] === 1 ? set : unset) }
}

/**
 * Aggregates in the order of answers, null where they cannot be computed; the variance under both of its names where
 * VAR was asked for.
 * @param always those that are null where they were not asked for
 */
function aggregateFields(
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
