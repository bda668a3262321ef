import type { SinglePoint } from '../calc/graph/point-source.ts'
import { type Issue, never } from '../errors/tidemark-error.ts'
import type { PointColumns } from '../series/columns.ts'
import type { TimeZone } from '../time/zone.ts'
import { aggregateColumns, aggregateRows } from './answer-aggregates.ts'
import { AnswerBuffer } from './answer-buffer.ts'
import { gapColumns, gapRows, intervalColumns, intervalRows } from './answer-intervals.ts'
import { type Chunk, columnChunks, pointText, rowChunks } from './answer-points.ts'
import { StateTexts } from './answer-states.ts'
import { BufferPool } from './buffer-pool.ts'
import { formatCursor } from './cursor.ts'
import type { ExecutedLabel } from './execute.ts'
import { missingParts } from './left-out.ts'
import type { Result } from './requests/request.ts'

/**
 * Streaming JSON writer for answers, chunk by chunk, straight from columns: an object per point, or one string of the
 * whole answer, would cost more than all other work of a large call. Keys from outside (labels) are written by
 * JSON.stringify and never become keys of an object of ours.
 */

/** Texts of several labels are passed on at about this length. */
const TEXT_CHARACTERS = 4_096

export interface AnswerParts {
  readonly results: readonly ExecutedLabel[]
  readonly issues: readonly Issue[]
  readonly now: string
  readonly warnings: readonly string[]
  readonly message: string | null
  readonly format: 'points' | 'columns'
}

/** Labels that have one point each, by their places among the results. */
interface PointRun {
  readonly first: number
  readonly end: number
}

/**
 * The answer of an executed or refused call, in chunks worth sending.
 * @param pool buffers of large chunks; left out they are new memory
 */
export function answerChunks(parts: AnswerParts, pool = new BufferPool()): Generator<Uint8Array> {
  return joined(partsOf(parts, pool), parts.results)
}

/** Answers with more labels are written in chunks. */
const MOST_AT_ONCE = 256
const WHOLE_ANSWER = new AnswerBuffer()

/**
 * The same answer as one chunk, written without generators, where it is a small one of single points alone; `null` for
 * any other. A short one is a text of ASCII.
 */
export function pointsAnswer({
  results,
  issues,
  now,
  warnings,
  message,
}: AnswerParts): string | Uint8Array | null {
  if (results.length === 0 || results.length > MOST_AT_ONCE) return null
  if (issues.length > 0 || warnings.length > 0 || message !== null) return null
  const buffer = WHOLE_ANSWER
  buffer.open()
  for (let i = 0; i < results.length; i++) {
    const { parsed, states, result } = results[i]!
    if (result.kind !== 'point' || states !== undefined || buffer.isFull) {
      buffer.clear()
      return null
    }
    const { label, zone } = parsed
    if (i === 0) buffer.near(result.point.time, zone)
    if (!buffer.point(i > 0, label, result.point, zone)) {
      buffer.clear()
      return null
    }
  }
  buffer.close(now)
  return buffer.takeShort()
}

function* partsOf(
  { results, issues, now, warnings, message, format }: AnswerParts,
  pool: BufferPool,
): Generator<Chunk | PointRun> {
  let text = message === null ? '{"results":{' : `{"message":${JSON.stringify(message)},"results":{`
  for (let i = 0; i < results.length; ) {
    const executed = results[i]!
    const { parsed, result } = executed
    if (i > 0) text += ','
    if (result.kind === 'point') {
      yield text
      text = ''
      // Many labels have a single point: they are written together, without a step of a generator for each.
      const first = i
      while (i < results.length && results[i]!.result.kind === 'point') i++
      yield { first, end: i }
      continue
    }
    i++
    text += `${JSON.stringify(parsed.label)}:`
    if (result.kind === 'adjacent') {
      text += adjacentText(result, pointTextOf(executed))
      if (text.length < TEXT_CHARACTERS) continue
      yield text
      text = ''
    } else {
      yield text
      text = ''
      yield* resultParts(executed, result, format, pool)
    }
  }
  yield `${text}}`
  yield* nextParts(results)
  yield* missingParts(results)
  yield ',"errors":{'
  let separator = ''
  for (const issue of issues) {
    yield `${separator}${JSON.stringify(issue.label)}:${JSON.stringify(issue.message)}`
    separator = ','
  }
  yield '}'
  if (issues.length > 0) yield* issueParts(issues)
  if (warnings.length > 0) yield `,"warnings":${JSON.stringify(warnings)}`
  yield `,"now":"${now}"}`
}

function* resultParts(
  { parsed, states }: ExecutedLabel,
  result: Exclude<Result, { readonly kind: 'point' | 'adjacent' }>,
  format: 'points' | 'columns',
  pool: BufferPool,
): Generator<Chunk> {
  const { zone } = parsed
  switch (result.kind) {
    case 'raw':
      if (states !== undefined) {
        yield* rawStateParts(result.points, new StateTexts(states), zone, format, pool)
        break
      }
      yield '{"dataPoints":'
      yield* format === 'columns' ? columnChunks(result.points, pool) : rowChunks(result.points, zone, pool)
      yield '}'
      break
    case 'points':
      yield '{"dataPoints":'
      yield* format === 'columns' ? columnChunks(result.points, pool) : rowChunks(result.points, zone, pool)
      yield '}'
      break
    case 'intervals':
      yield '{"intervals":'
      yield* format === 'columns'
        ? intervalColumns(result.intervals, result.aggregates, pool)
        : intervalRows(result.intervals, result.aggregates, zone)
      yield '}'
      break
    case 'gaps':
      yield '{"intervals":'
      yield* format === 'columns' ? gapColumns(result.gaps, pool) : gapRows(result.gaps, zone)
      yield '}'
      break
    case 'plot':
      yield '{"dataPoints":'
      yield* format === 'columns' ? columnChunks(result.points, pool) : rowChunks(result.points, zone, pool)
      yield `,"sampled":${JSON.stringify(result.sampled)}}`
      break
    case 'aggregates':
      yield '{"aggregates":'
      yield* format === 'columns'
        ? aggregateColumns(
            result.edges.subarray(0, -1),
            result.edges.subarray(1),
            result.aggregates,
            result.cut,
            pool,
          )
        : aggregateRows(result.edges, result.aggregates, result.cut, zone)
      yield '}'
      break
    default:
      never(result)
  }
}

/** Raw points of a tag with names of its values. */
function* rawStateParts(
  points: PointColumns,
  states: StateTexts,
  zone: TimeZone,
  format: 'points' | 'columns',
  pool: BufferPool,
): Generator<Chunk> {
  yield '{"dataPoints":'
  yield* format === 'columns'
    ? columnChunks(points, pool, states.column(points.values))
    : states.rows(points, zone)
  yield `,"enumDictionary":${states.dictionary}}`
}

/** Where labels go on, beside `results`: a widely used client fails on a label with other fields than its points. */
function* nextParts(results: readonly ExecutedLabel[]): Generator<string> {
  let separator = ',"next":{'
  for (const { parsed, result } of results) {
    if (!('rest' in result) || result.rest === null) continue
    const { label, address, now, zone } = parsed
    const cursor = formatCursor(result.rest, { now, zone }, address)
    yield `${separator}${JSON.stringify(label)}:"${cursor}"`
    separator = ','
  }
  if (separator === ',') yield '}'
}

function adjacentText(
  { before, at, after }: Extract<Result, { readonly kind: 'adjacent' }>,
  textOf: (point: SinglePoint) => string,
): string {
  const orNull = (point: SinglePoint | null) => (point === null ? 'null' : textOf(point))
  return `{"before":${orNull(before)},"at":${orNull(at)},"after":${orNull(after)}}`
}

/** Writes single points of a label. */
function pointTextOf({ parsed: { zone }, states }: ExecutedLabel): (point: SinglePoint) => string {
  if (states === undefined) return (point) => pointText(point, zone)
  const texts = new StateTexts(states)
  return (point) => texts.point(point, zone)
}

function* issueParts(issues: readonly Issue[]): Generator<string> {
  yield ',"issues":['
  let separator = ''
  for (const { code, message, ...place } of issues) {
    yield `${separator}${JSON.stringify({ code, message, ...place })}`
    separator = ','
  }
  yield ']'
}

/** Writes labels with one point each, and yields the chunks that become full on the way. */
function* writeRun(
  buffer: AnswerBuffer,
  { first, end }: PointRun,
  results: readonly ExecutedLabel[],
): Generator<Uint8Array> {
  for (let i = first; i < end; i++) {
    const executed = results[i]!
    const { parsed, states, result } = executed
    if (result.kind !== 'point') continue
    const { label, zone } = parsed
    if (i === first) buffer.near(result.point.time, zone)
    if (states !== undefined || !buffer.point(i > first, label, result.point, zone)) {
      const comma = i > first ? ',' : ''
      const point = pointTextOf(executed)(result.point)
      const text = `${comma}${JSON.stringify(label)}:{"dataPoint":${point}}`
      if (!buffer.text(text)) yield* besideBuffer(buffer, text)
    }
    if (buffer.isFull) yield buffer.take()
  }
}

/** A text that does not fit into the buffer is a chunk of its own, behind what was written before. */
function* besideBuffer(buffer: AnswerBuffer, text: string): Generator<Uint8Array> {
  if (!buffer.isEmpty) yield buffer.take()
  yield Buffer.from(text)
}

/** Joins small parts to chunks worth sending; bytes are passed on as they are, in their place. */
function* joined(
  parts: Iterable<Chunk | PointRun>,
  results: readonly ExecutedLabel[],
): Generator<Uint8Array> {
  const buffer = new AnswerBuffer()
  for (const part of parts) {
    if (typeof part === 'string') {
      if (!buffer.text(part)) yield* besideBuffer(buffer, part)
    } else if (part instanceof Uint8Array) {
      if (!buffer.isEmpty) yield buffer.take()
      yield part
    } else {
      yield* writeRun(buffer, part, results)
    }
    if (buffer.isFull) yield buffer.take()
  }
  if (!buffer.isEmpty) yield buffer.take()
}
