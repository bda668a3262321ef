import type { SinglePoint } from '../calc/graph/point-source.ts'
import { FIXED_LIMITS } from '../errors/limits.ts'
import { type Issue, issue, never } from '../errors/tidemark-error.ts'
import type { MissingSpan } from '../series/reads.ts'
import { formatInstant } from '../time/format.ts'
import type { Instant } from '../time/instant.ts'
import { writeRanges } from './answer-ranges.ts'
import { AnswerWriter, pointText } from './answer-writer.ts'
import { BufferPool } from './buffer-pool.ts'
import type { CallHead } from './call.ts'
import { formatCursor } from './cursor.ts'
import type { ExecutedLabel } from './execute.ts'
import { StateNames } from './state-names.ts'

/**
 * Streaming JSON writer for answers, chunk by chunk, straight from columns: an object per point, or one string of the
 * whole answer, would cost more than all other work of a large call. Keys from outside (labels) are written by
 * JSON.stringify and never become keys of an object of ours.
 */
export interface AnswerParts {
  readonly results: readonly ExecutedLabel[]
  readonly issues: readonly Issue[]
  readonly now: string
  readonly warnings: readonly string[]
  readonly format: 'points' | 'columns'
}

type Written = Generator<void>

/**
 * The answer of an executed call, in chunks worth sending.
 * @param pool buffers of large chunks; left out they are new memory
 */
export function answerChunks(parts: AnswerParts, pool?: BufferPool): Generator<Uint8Array> {
  return chunksOf((out) => writeAnswer(out, parts), pool)
}

/**
 * The answer of a call that failed as a whole: the sentence under every label, written from one text for all of them,
 * and the issues of the first thousand.
 */
export function failedCallChunks(
  { names, warnings, now, zone }: CallHead,
  { code, message }: Pick<Issue, 'code' | 'message'>,
  pool?: BufferPool,
): Generator<Uint8Array> {
  const sentence = JSON.stringify(message)
  const issues: Issue[] = names.slice(0, MOST_ISSUES).map((label) => ({ code, message, label }))
  const more = names.length - issues.length
  if (more > 0) issues.push(issue('TOO_MANY_ISSUES', { count: more }))
  return chunksOf(function* (out) {
    out.text(`{"message":${sentence},"results":{}`)
    yield* writeEntries(out, 'errors', names, (label) => `${JSON.stringify(label)}:${sentence}`)
    yield* writeEnd(out, { issues, warnings: warnings.list(), now: formatInstant(now, zone) })
  }, pool)
}

/** The answer to `"explain": true`. @param explain the value of the field of that name, in texts */
export function explanationChunks(
  parts: Omit<AnswerParts, 'results' | 'format'>,
  explain: readonly string[],
  pool?: BufferPool,
): Generator<Uint8Array> {
  return chunksOf(function* (out) {
    out.text('{"results":{}')
    yield* writeEntries(out, 'errors', parts.issues, errorOf)
    out.text(',"explain":')
    for (const text of explain) {
      out.text(text)
      if (out.isFull) yield
    }
    yield* writeEnd(out, parts)
  }, pool)
}

/** Labels that have an issue of their own; as in a write, one more issue says how many there are beyond. */
const MOST_ISSUES = FIXED_LIMITS.listedIssues.limit
/** Answers with more labels are written in chunks. */
const MOST_AT_ONCE = 256
const WHOLE_ANSWER = new AnswerWriter(new BufferPool())

/**
 * The same answer as one chunk, written without generators, where it is a small one of single points alone; `null` for
 * any other. A short one is a text of ASCII.
 */
export function pointsAnswer({ results, issues, now, warnings }: AnswerParts): string | Uint8Array | null {
  if (results.length === 0 || results.length > MOST_AT_ONCE || issues.length > 0 || warnings.length > 0)
    return null
  const out = WHOLE_ANSWER
  out.text('{"results":{')
  if (writePoints(out, results, 0, false) < results.length) {
    out.clear()
    return null
  }
  out.text(`},"errors":{},"now":"${now}"}`)
  return out.takeShort()
}

function* chunksOf(write: (out: AnswerWriter) => Written, pool = new BufferPool()): Generator<Uint8Array> {
  const out = new AnswerWriter(pool)
  try {
    for (const _ of write(out)) yield* out.chunks()
    yield* out.last()
  } finally {
    out.close()
  }
}

function* writeAnswer(out: AnswerWriter, { results, issues, now, warnings, format }: AnswerParts): Written {
  out.text('{"results":{')
  for (let i = 0; i < results.length; ) {
    const next = writePoints(out, results, i, true)
    if (next === i) yield* writeLabel(out, i > 0, results[i++]!, format)
    else i = next
    if (out.isFull) yield
  }
  out.text('}')
  // Beside `results`: a widely used client fails on a label with other fields than its points.
  yield* writeEntries(out, 'next', results.filter(goesOn), cursorOf)
  yield* writeEntries(out, 'missing', results.filter(lacksPoints), missingOf)
  yield* writeEntries(out, 'errors', issues, errorOf)
  yield* writeEnd(out, { issues, now, warnings })
}

/**
 * Writes the labels with one point each from an index on, until a chunk is full, and without a step of a generator for
 * each. Returns the index of the next label.
 * @param any whether those of long labels, and of tags whose values have names, are written too
 */
function writePoints(
  out: AnswerWriter,
  results: readonly ExecutedLabel[],
  first: number,
  any: boolean,
): number {
  for (let i = first; i < results.length; i++) {
    const { parsed, states, result } = results[i]!
    if (result.kind !== 'point' || out.isFull) return i
    const { label, zone } = parsed
    if (i === first) out.pointsNear(result.point.time, zone)
    if (states === undefined && out.point(i > 0, label, result.point, zone)) continue
    if (!any) return i
    const names = states === undefined ? null : new StateNames(states)
    const point = pointText(result.point, zone, names)
    out.text(`${i > 0 ? ',' : ''}${JSON.stringify(label)}:{"dataPoint":${point}}`)
  }
  return results.length
}

function* writeLabel(
  out: AnswerWriter,
  comma: boolean,
  { parsed: { label, zone }, states, result }: ExecutedLabel,
  format: 'points' | 'columns',
): Written {
  const names = states === undefined ? null : new StateNames(states)
  const textOf = (point: SinglePoint | null) => (point === null ? 'null' : pointText(point, zone, names))
  out.text(`${comma ? ',' : ''}${JSON.stringify(label)}:`)
  switch (result.kind) {
    case 'point':
      out.text(`{"dataPoint":${textOf(result.point)}}`)
      break
    case 'adjacent':
      out.text(
        `{"before":${textOf(result.before)},"at":${textOf(result.at)},"after":${textOf(result.after)}}`,
      )
      break
    case 'raw':
    case 'points':
    case 'plot': {
      const ownNames = result.kind === 'raw' ? names : null
      out.text('{"dataPoints":')
      yield* format === 'columns'
        ? out.columns(result.points, ownNames)
        : out.rows(result.points, zone, ownNames)
      if (ownNames !== null) out.text(`,"enumDictionary":${ownNames.dictionary}`)
      if (result.kind === 'plot') out.text(`,"sampled":${JSON.stringify(result.sampled)}`)
      out.text('}')
      break
    }
    case 'aggregates':
    case 'intervals':
    case 'gaps':
      out.text(result.kind === 'aggregates' ? '{"aggregates":' : '{"intervals":')
      yield* writeRanges(out, result, format, zone)
      out.text('}')
      break
    default:
      never(result)
  }
}

function goesOn({ result }: ExecutedLabel): boolean {
  return 'rest' in result && result.rest !== null
}

function cursorOf({ parsed: { label, address, now, zone }, result }: ExecutedLabel): string {
  const rest = 'rest' in result ? result.rest : null
  return `${JSON.stringify(label)}:"${formatCursor(rest!, { now, zone }, address)}"`
}

function lacksPoints({ result }: ExecutedLabel): boolean {
  return result.kind === 'raw' && result.leftOut !== undefined
}

function missingOf({ parsed: { label, zone }, result }: ExecutedLabel): string {
  const spans = result.kind === 'raw' ? result.leftOut!.missing : []
  const shown = ({ from, to }: MissingSpan) => ({
    from: formatInstant(from as Instant, zone),
    to: formatInstant(to as Instant, zone),
  })
  return `${JSON.stringify(label)}:${JSON.stringify(spans.map(shown))}`
}

function errorOf({ label, message }: Issue): string {
  return `${JSON.stringify(label)}:${JSON.stringify(message)}`
}

/** A further field that is an object; `errors` is there without entries too. */
function* writeEntries<Entry>(
  out: AnswerWriter,
  field: 'next' | 'missing' | 'errors',
  entries: readonly Entry[],
  textOf: (entry: Entry) => string,
): Written {
  if (entries.length === 0 && field !== 'errors') return
  out.text(`,"${field}":{`)
  for (let i = 0; i < entries.length; i++) {
    out.text(i === 0 ? textOf(entries[i]!) : `,${textOf(entries[i]!)}`)
    if (out.isFull) yield
  }
  out.text('}')
}

/** The fields with which every answer ends. */
function* writeEnd(
  out: AnswerWriter,
  { issues, warnings, now }: Pick<AnswerParts, 'issues' | 'warnings' | 'now'>,
): Written {
  if (issues.length > 0) {
    yield* out.texts('issues', issues.length, (i) => {
      const { code, message, ...place } = issues[i]!
      return JSON.stringify({ code, message, ...place })
    })
  }
  if (warnings.length > 0) out.text(`,"warnings":${JSON.stringify(warnings)}`)
  out.text(`,"now":"${now}"}`)
}
