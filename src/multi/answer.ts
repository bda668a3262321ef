import type { SinglePoint } from '../calc/series.ts'
import { type Issue, never } from '../errors/tidemark-error.ts'
import type { TimeZone } from '../time/zone.ts'
import { aggregatePieces, columnPieces, pointText, rowPieces } from './answer-points.ts'
import { AnswerSheet } from './answer-sheet.ts'
import { formatCursor } from './cursor.ts'
import type { Result } from './execute.ts'
import type { ExecutedLabel } from './execute-labels.ts'
import { Sheets } from './sheets.ts'

/**
 * Writes answers as JSON, piece by piece, straight from columns: an object per point, or one string of the whole answer,
 * would cost more than all other work of a large call. Keys from outside (labels) are written by JSON.stringify and never
 * become keys of an object of ours.
 */

/** Texts of several labels are passed on when they are about so long. */
const TEXT_CHARACTERS = 4_096

export interface AnswerParts {
  readonly results: readonly ExecutedLabel[]
  readonly issues: readonly Issue[]
  readonly now: string
  readonly warnings: readonly string[]
  readonly message: string | null
  readonly format: 'points' | 'columns'
}

/** A part of an answer: text that is still to be joined with its neighbours, or bytes that go out as they are. */
export type Piece = string | Uint8Array

/** Labels that have one point each, by their places among the results. */
interface PointRun {
  readonly first: number
  readonly end: number
}

/**
 * The answer of an executed or refused call, in pieces worth sending.
 * @param sheets what large pieces are written on; left out it is new memory
 */
export function answerPieces(parts: AnswerParts, sheets = new Sheets()): Generator<Uint8Array> {
  return joined(partsOf(parts, sheets), parts.results)
}

/** Answers with more labels are written in pieces. */
const MOST_AT_ONCE = 256
const ONE_PIECE = new AnswerSheet()

/**
 * The same answer in one piece, written without the turns of generators, where it is a small one of nothing but points; `null` for
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
  const sheet = ONE_PIECE
  sheet.open()
  for (let i = 0; i < results.length; i++) {
    const { understood, result } = results[i]!
    if (result.kind !== 'point' || sheet.isFull) {
      sheet.clear()
      return null
    }
    const { label, zone } = understood
    if (i === 0) sheet.near(result.point.time, zone)
    if (!sheet.point(i > 0, label, result.point, zone)) {
      sheet.clear()
      return null
    }
  }
  sheet.close(now)
  return sheet.takeShort()
}

function* partsOf(
  { results, issues, now, warnings, message, format }: AnswerParts,
  sheets: Sheets,
): Generator<Piece | PointRun> {
  let text = message === null ? '{"results":{' : `{"message":${JSON.stringify(message)},"results":{`
  for (let i = 0; i < results.length; ) {
    const executed = results[i]!
    const { understood, result } = executed
    if (i > 0) text += ','
    if (result.kind === 'point') {
      yield text
      text = ''
      // Many labels have a single point: they are written together, without a turn of a generator for each.
      const first = i
      while (i < results.length && results[i]!.result.kind === 'point') i++
      yield { first, end: i }
      continue
    }
    i++
    text += `${JSON.stringify(understood.label)}:`
    if (result.kind === 'adjacent') {
      text += adjacentText(result, understood.zone)
      if (text.length < TEXT_CHARACTERS) continue
      yield text
      text = ''
    } else {
      yield text
      text = ''
      yield* resultParts(executed, result, format, sheets)
    }
  }
  yield `${text}},"errors":{`
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
  { understood }: ExecutedLabel,
  result: Exclude<Result, { readonly kind: 'point' | 'adjacent' }>,
  format: 'points' | 'columns',
  sheets: Sheets,
): Generator<Piece> {
  const { address, now, zone } = understood
  switch (result.kind) {
    case 'points':
    case 'raw':
      yield '{"dataPoints":'
      yield* format === 'columns'
        ? columnPieces(result.points, sheets)
        : rowPieces(result.points, zone, sheets)
      if (result.kind === 'raw') {
        yield `,"truncated":${result.rest !== null}`
        if (result.rest !== null) {
          yield `,"next":"${formatCursor({ now, zone, request: result.rest }, address)}"`
        }
      }
      yield '}'
      break
    case 'aggregates':
      yield '{"aggregates":'
      yield* aggregatePieces(result.edges, result.columns, zone)
      yield '}'
      break
    default:
      never(result)
  }
}

function adjacentText(
  { before, at, after }: Extract<Result, { readonly kind: 'adjacent' }>,
  zone: TimeZone,
): string {
  return `{"before":${orNull(before, zone)},"at":${orNull(at, zone)},"after":${orNull(after, zone)}}`
}

function orNull(point: SinglePoint | null, zone: TimeZone): string {
  return point === null ? 'null' : pointText(point, zone)
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

/** Writes labels with one point each, and answers the pieces that become full on the way. */
function* writeRun(
  sheet: AnswerSheet,
  { first, end }: PointRun,
  results: readonly ExecutedLabel[],
): Generator<Uint8Array> {
  for (let i = first; i < end; i++) {
    const { understood, result } = results[i]!
    if (result.kind !== 'point') continue
    const { label, zone } = understood
    if (i === first) sheet.near(result.point.time, zone)
    if (!sheet.point(i > first, label, result.point, zone)) {
      const comma = i > first ? ',' : ''
      const text = `${comma}${JSON.stringify(label)}:{"dataPoint":${pointText(result.point, zone)}}`
      if (!sheet.text(text)) yield* besideSheet(sheet, text)
    }
    if (sheet.isFull) yield sheet.take()
  }
}

/** A text that does not fit on a sheet is a piece of its own, behind what was written before. */
function* besideSheet(sheet: AnswerSheet, text: string): Generator<Uint8Array> {
  if (!sheet.isEmpty) yield sheet.take()
  yield Buffer.from(text)
}

/** Joins what is small to pieces worth sending; bytes are passed on as they are, in their place. */
function* joined(
  parts: Iterable<Piece | PointRun>,
  results: readonly ExecutedLabel[],
): Generator<Uint8Array> {
  const sheet = new AnswerSheet()
  for (const part of parts) {
    if (typeof part === 'string') {
      if (!sheet.text(part)) yield* besideSheet(sheet, part)
    } else if (part instanceof Uint8Array) {
      if (!sheet.isEmpty) yield sheet.take()
      yield part
    } else {
      yield* writeRun(sheet, part, results)
    }
    if (sheet.isFull) yield sheet.take()
  }
  if (!sheet.isEmpty) yield sheet.take()
}
