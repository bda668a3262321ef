import type { SinglePoint } from '../calc/series.ts'
import { type Issue, never } from '../errors/tidemark-error.ts'
import type { TimeZone } from '../time/zone.ts'
import { aggregatePieces, columnPieces, pointText, rowPieces } from './answer-points.ts'
import { formatCursor } from './cursor.ts'
import type { Result } from './execute.ts'
import type { ExecutedLabel } from './run.ts'
import type { Sheets } from './sheets.ts'

/**
 * Writes answers as JSON, piece by piece, straight from columns: an object per point, or one string of the whole answer,
 * would cost more than all other work of a large call. Keys from outside (labels) are written by JSON.stringify and never
 * become keys of an object of ours.
 */

/** Texts are joined to pieces of about this many characters before they are passed on. */
const PIECE_CHARACTERS = 65_536

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

/**
 * The answer of an executed or refused call, in pieces worth sending.
 * @param sheets what large pieces are written on
 */
export function answerPieces(parts: AnswerParts, sheets: Sheets): Generator<Uint8Array> {
  return joined(partsOf(parts, sheets))
}

function* partsOf(
  { results, issues, now, warnings, message, format }: AnswerParts,
  sheets: Sheets,
): Generator<Piece> {
  let text = message === null ? '{"results":{' : `{"message":${JSON.stringify(message)},"results":{`
  let separator = ''
  for (const executed of results) {
    const { understood, result } = executed
    const { label, zone } = understood
    text += `${separator}${JSON.stringify(label)}:`
    separator = ','
    // Many labels have a point or three: they are joined here, without a turn of two generators for each.
    if (result.kind === 'point') text += `{"dataPoint":${pointText(result.point, zone)}}`
    else if (result.kind === 'adjacent') text += adjacentText(result, zone)
    else {
      yield text
      text = ''
      yield* resultParts(executed, result, format, sheets)
    }
    if (text.length >= PIECE_CHARACTERS) {
      yield text
      text = ''
    }
  }
  yield `${text}},"errors":{`
  separator = ''
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

/** Joins small texts to pieces worth sending; bytes are passed on as they are, in their place. */
function* joined(parts: Iterable<Piece>): Generator<Uint8Array> {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part
      if (text.length < PIECE_CHARACTERS) continue
    }
    if (text !== '') yield Buffer.from(text)
    text = ''
    if (typeof part !== 'string') yield part
  }
  if (text !== '') yield Buffer.from(text)
}
