import { issueOf, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { parseTag } from '../grammar/parser.ts'
import type { FunctionSignature } from '../grammar/tree.ts'
import type { Breather } from '../historian/breather.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { Instant } from '../time/instant.ts'
import { parseTime } from '../time/parse.ts'
import { parseTimeZone, type TimeZone } from '../time/zone.ts'
import type { CallHead, MultiCall, ParsedLabel } from './call.ts'
import { parseCursor } from './cursor.ts'
import { Details, listWords } from './details.ts'
import { DEFAULT_POINTS, REQUEST_TYPES, type RequestType } from './request-types.ts'

const CALL_FIELDS = ['now', 'timeZone', 'requests', 'explain', 'format'] as const
/** So many labels that name just a tag are read or planned before it is looked whether a rest is due. */
export const PLAIN_TAGS_IN_A_ROW = 32

const LABEL_FIELDS = ['type', 'tag', 'details'] as const

/** Reads what concerns a multi call as a whole. Throws what is wrong with it; labels are left for `parseLabels`. */
export function parseHead(body: unknown, call: MultiCall): CallHead {
  if (!isObject(body)) throw refused(`The body is ${showInput(body)}: an object with requests is expected`)
  const warnings = new Warnings()
  warnings.checkFields(body, CALL_FIELDS, 'the call')
  const zone = readZone(body.timeZone, call.defaultZone)
  const now = readNow(body.now, call.now, zone)
  const explain = readFlag(body, 'explain')
  const format = readFormat(body.format)
  const { requests } = body
  if (!isObject(requests)) {
    throw refused(`Invalid requests ${showInput(requests)}: an object of labelled requests is expected`)
  }
  return { now, zone, format, explain, requests: Object.entries(requests), warnings }
}

/**
 * Reads the labels of a call; what is wrong with one becomes its issue. Many long calculations take a while: it rests, and is a promise
 * then.
 */
export function parseLabels(
  head: CallHead,
  defaultHistorian: string | null,
  signatures: ReadonlyMap<string, FunctionSignature>,
  breather: Breather,
): MaybePromise<readonly ParsedLabel[]> {
  const { now, zone, warnings } = head
  const context: LabelContext = { now, zone, defaultHistorian, signatures, warnings }
  const labels: ParsedLabel[] = []
  parseSome(head, context, labels, breather)
  return labels.length === head.requests.length ? labels : parseRest(head, context, labels, breather)
}

async function parseRest(
  head: CallHead,
  context: LabelContext,
  labels: ParsedLabel[],
  breather: Breather,
): Promise<readonly ParsedLabel[]> {
  while (labels.length < head.requests.length) {
    await breather.rest()
    parseSome(head, context, labels, breather)
  }
  return labels
}

/** Reads labels until all are read, or a rest is due. */
function parseSome(
  { requests }: CallHead,
  context: LabelContext,
  labels: ParsedLabel[],
  breather: Breather,
): void {
  let inARow = 0
  while (labels.length < requests.length) {
    const [label, request] = requests[labels.length]!
    const parsed = parseLabel(label, request, context)
    labels.push(parsed)
    // A tag alone takes a microsecond, less than a turn of the loop or even a look at the clock for each.
    if (parsed.kind === 'understood' && parsed.tree.kind === 'tag' && ++inARow < PLAIN_TAGS_IN_A_ROW) continue
    inARow = 0
    if (breather.isDue) return
  }
}

interface LabelContext {
  readonly now: Instant
  readonly zone: TimeZone
  readonly defaultHistorian: string | null
  readonly signatures: ReadonlyMap<string, FunctionSignature>
  readonly warnings: Warnings
}

function parseLabel(label: string, request: unknown, context: LabelContext): ParsedLabel {
  try {
    return understandLabel(label, request, context)
  } catch (error) {
    const tag = isObject(request) && typeof request.tag === 'string' ? { tag: request.tag } : {}
    return { kind: 'wrong', label, issue: issueOf(error, { label, ...tag }), cause: error }
  }
}

function understandLabel(label: string, request: unknown, context: LabelContext): ParsedLabel {
  if (!isObject(request))
    throw refused(`Invalid request ${showInput(request)}: an object with type and tag is expected`)
  context.warnings.checkFields(request, LABEL_FIELDS, 'a request')
  const type = readType(request.type)
  const address = request.tag
  if (typeof address !== 'string') {
    throw refused(`Invalid tag ${showInput(address)}: a text <historian_name>/<tag_name> is expected`)
  }
  const fields = request.details ?? {}
  if (!isObject(fields)) throw refused(`Invalid details ${showInput(fields)}: an object is expected`)
  context.warnings.checkFields(fields, type.fields, type.place)

  const details = new Details(fields, type.name, context.now, context.zone)
  const cursorText = type.name === 'RAW_POINTS' ? details.text('cursor') : null
  if (cursorText !== null) {
    const cursor = parseCursor(cursorText, address, details.count('maxPoints', DEFAULT_POINTS))
    const { request: understood, now, zone } = cursor
    const tree = parseTag(address, { ...context, now, zone })
    return { kind: 'understood', label, address, tree, request: understood, now, zone }
  }
  const { now, zone } = context
  const understood = type.read(details, now)
  return {
    kind: 'understood',
    label,
    address,
    tree: parseTag(address, context),
    request: understood,
    now,
    zone,
  }
}

function readType(input: unknown): RequestType {
  const type = typeof input === 'string' ? REQUEST_TYPES.get(input) : undefined
  if (type !== undefined) return type
  const values = { input: showInput(input), expected: listWords([...REQUEST_TYPES.keys()]) }
  throw new TidemarkError('UNKNOWN_REQUEST_TYPE', values, { place: { input: values.input } })
}

function readZone(input: unknown, fallback: TimeZone): TimeZone {
  if (input === undefined || input === null) return fallback
  const zone = typeof input === 'string' ? parseTimeZone(input) : null
  if (zone === null) throw new TidemarkError('INVALID_TIME_ZONE', { input: showInput(input) })
  return zone
}

function readNow(input: unknown, wallClock: Instant, zone: TimeZone): Instant {
  if (input === undefined || input === null) return wallClock
  const now = parseTime(input, { now: wallClock, zone })
  if (now === null) throw new TidemarkError('INVALID_TIME', { input: showInput(input), field: 'now' })
  return now
}

function readFlag(body: Readonly<Record<string, unknown>>, field: string): boolean {
  const value = body[field] ?? false
  if (typeof value !== 'boolean')
    throw refused(`Invalid ${field} ${showInput(value)}: true or false is expected`)
  return value
}

function readFormat(input: unknown): 'points' | 'columns' {
  if (input === undefined || input === null || input === 'points') return 'points'
  if (input === 'columns') return 'columns'
  throw refused(`Invalid format ${showInput(input)}: points or columns is expected`)
}

function refused(message: string): TidemarkError {
  return new TidemarkError('INVALID_REQUEST', { message })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
