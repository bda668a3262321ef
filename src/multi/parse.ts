import { invalidField, isObject, readBody, readObject, readOptionalFlag } from '../errors/fields.ts'
import { HintBudget } from '../errors/hint-budget.ts'
import { FIXED_LIMITS } from '../errors/limits.ts'
import { issueOf, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { parseTag } from '../grammar/parser.ts'
import type { FunctionSignature, TagNode } from '../grammar/tree.ts'
import { tagsOf } from '../grammar/visit.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import { fieldNames } from '../json/field-names.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import { readClock } from '../time/clock.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import { type CallHead, type CallLabel, type MultiCall, type ParsedLabel, treesOf } from './call.ts'
import { parseCursor } from './cursor.ts'
import { ANCHOR } from './requests/aggregates.ts'
import { Details, listWords } from './requests/detail.ts'
import { AGGREGATES_OF } from './requests/intervals.ts'
import { MAX_GAP, type RequestType } from './requests/request-type.ts'
import { REQUEST_TYPES } from './requests/table.ts'

const CALL_FIELDS = ['requests', 'now', 'timeZone', 'explain', 'format'] as const
/** Labels of a tag alone that are parsed before the event loop is checked for other work. */
const PLAIN_TAGS_IN_A_ROW = 32

/** An argument counts as so many evaluated values: it takes some 100 bytes until the call ends. */
const ARGUMENT_VALUES = 100

const LABEL_FIELDS = ['type', 'tag', 'details'] as const
/** Details that are an error, and not ignored, in requests that do not know them. */
const REFUSED_DETAILS = [ANCHOR.name]

/** Requests by label, not parsed yet. */
export type Requests = Readonly<Record<string, unknown>>

/** Reads what concerns a multi call as a whole. Throws its error; labels are left for `LabelParser`. */
export function parseHead(
  body: unknown,
  call: MultiCall,
): { readonly head: CallHead; readonly requests: Requests } {
  const warnings = new Warnings()
  const fields = readBody(body, CALL_FIELDS, warnings)
  const { now, zone } = readClock(fields, call)
  const explain = readOptionalFlag(fields, 'explain')
  const format = readFormat(fields.format)
  const requests = readObject(fields, 'requests', 'an object of labelled requests')
  const names = fieldNames(requests)
  const { labels: limit } = call.limits
  if (names.length > limit) throw new TidemarkError('LIMIT_LABELS', { limit })
  return { head: { now, zone, format, explain, names, warnings }, requests }
}

/** Parses the labels of a call; the error of an invalid one becomes its issue. */
export class LabelParser {
  readonly labels: CallLabel[] = []
  readonly #names: readonly string[]
  /** `null` once all are parsed: those of very many labels are as much memory as what was made of them. */
  #requests: Requests | null
  readonly #context: LabelContext
  readonly #scheduler: CooperativeScheduler
  #arguments = 0
  /** Of the tags of labels that are parsed. */
  #characters = 0

  constructor(
    { names, now, zone, warnings }: CallHead,
    requests: Requests,
    defaultHistorian: string | null,
    signatures: ReadonlyMap<string, FunctionSignature>,
    { signal, began }: { readonly signal: AbortSignal; readonly began: number },
  ) {
    this.#names = names
    this.#requests = requests
    this.#context = { now, zone, defaultHistorian, signatures, warnings, hints: new HintBudget() }
    this.#scheduler = new CooperativeScheduler(signal, began)
  }

  /**
   * Parses labels until all are parsed, or the time slice is spent. Returns whether all are parsed. Throws
   * LIMIT_EVALUATED_VALUES where their calculations have too many arguments.
   */
  parseNow(): boolean {
    const names = this.#names
    let inARow = 0
    while (this.labels.length < names.length) {
      const label = names[this.labels.length]!
      const parsed = parseLabel(label, this.#requests![label], this.#context)
      this.labels.push(parsed)
      if (parsed.kind === 'parsed') this.#count(parsed)
      // A tag alone takes a microsecond, less than a look at the clock for each.
      if (parsed.kind === 'parsed' && parsed.tree.kind === 'tag' && ++inARow < PLAIN_TAGS_IN_A_ROW) continue
      inARow = 0
      if (this.#scheduler.isDue) break
    }
    if (this.labels.length < names.length) return false
    this.#requests = null
    return true
  }

  /** Characters of the tags of all labels, parsed or not. */
  get characters(): number {
    let characters = this.#characters
    for (let i = this.labels.length; i < this.#names.length; i++)
      characters += charactersOf(this.#requests![this.#names[i]!])
    return characters
  }

  #count(label: ParsedLabel): void {
    const { address, request } = label
    const { otherTag = '' } = request
    this.#characters += address.length + otherTag.length
    if (!isCalculation(label)) return
    for (const calculation of [address, otherTag])
      for (let at = 0; at >= 0; at = calculation.indexOf(',', at + 1)) this.#arguments++
    const { limit } = FIXED_LIMITS.evaluatedValues
    if (ARGUMENT_VALUES * this.#arguments > limit)
      throw new TidemarkError('LIMIT_EVALUATED_VALUES', { limit })
  }

  /** Parses what is left, and yields to the event loop in between. */
  async parseRest(): Promise<readonly CallLabel[]> {
    while (!this.parseNow()) await this.#scheduler.yield()
    return this.labels
  }
}

/**
 * Counts the tags that the labels name, in calculations too; nothing is looked up by then.
 * @returns whether aliases are among them
 * @throws  LIMIT_TAG_NAMES when they are more than so many
 */
export async function checkTagNames(
  labels: readonly CallLabel[],
  limit: number,
  scheduler: CooperativeScheduler,
): Promise<boolean> {
  let named = 0
  let namesAlias = false
  const visit = (onTag: (tag: TagNode) => void) => (label: CallLabel) => {
    if (label.kind === 'parsed') for (const tree of treesOf(label)) tagsOf(tree).forEach(onTag)
  }
  const look = ({ historian }: TagNode) => {
    named++
    namesAlias ||= isAliases(historian)
  }
  await forEach(labels, scheduler, visit(look), isCalculation)
  // Most calls: they need not be told apart.
  if (named <= limit) return namesAlias
  const names = new Set<string>()
  const count = ({ historian, name }: TagNode) => {
    names.add(`${historian}/${name}`)
    if (names.size > limit) throw new TidemarkError('LIMIT_TAG_NAMES', { limit })
  }
  await forEach(labels, scheduler, visit(count), isCalculation)
  return namesAlias
}

/** Characters of the tags of a request that is not parsed. */
function charactersOf(request: unknown): number {
  if (!isObject(request)) return 0
  const other = isObject(request.details) ? request.details[AGGREGATES_OF.name] : undefined
  return lengthOf(request.tag) + lengthOf(other)
}

const lengthOf = (text: unknown) => (typeof text === 'string' ? text.length : 0)

/** Whether a label may take as long as hundreds of plain tags. */
export function isCalculation(label: CallLabel): label is ParsedLabel {
  return label.kind === 'parsed' && (label.tree.kind === 'call' || label.otherTree?.kind === 'call')
}

interface LabelContext {
  readonly now: Instant
  readonly zone: TimeZone
  readonly defaultHistorian: string | null
  readonly signatures: ReadonlyMap<string, FunctionSignature>
  readonly warnings: Warnings
  readonly hints: HintBudget
}

function parseLabel(label: string, request: unknown, context: LabelContext): CallLabel {
  try {
    return parseRequest(label, request, context)
  } catch (error) {
    const tag = isObject(request) && typeof request.tag === 'string' ? { tag: request.tag } : {}
    return { kind: 'invalid', label, issue: issueOf(error, { label, ...tag }), cause: error }
  }
}

function parseRequest(label: string, request: unknown, context: LabelContext): CallLabel {
  if (!isObject(request)) throw invalidField('request', request, 'an object with type and tag')
  context.warnings.checkFields(request, LABEL_FIELDS, 'a request')
  const type = readType(request.type)
  const address = request.tag
  if (typeof address !== 'string') throw invalidField('tag', address, 'a text <historian_name>/<tag_name>')
  const fields = request.details ?? {}
  if (!isObject(fields)) throw invalidField('details', fields, 'an object')
  context.warnings.checkFields(fields, type.fields, type.place, REFUSED_DETAILS)

  const details = new Details(fields, type, context)
  if (details.has(ANCHOR) && !type.fields.includes(ANCHOR.name)) {
    throw details.invalid('anchor', 'no anchor, which belongs to the windows of MULTIPLE_AGGREGATED_POINTS,')
  }
  const { parsed, now, zone } = readDetails(type, fields, details, address, context)
  const place = { ...context, now, zone }
  const tree = parseTag(address, place)
  const { otherTag } = parsed
  const { maxGapUs = type.fields.includes(MAX_GAP.name) ? details.get(MAX_GAP) : null } = parsed
  const otherTree = otherTag === undefined ? null : parseTag(otherTag, place)
  const read = { kind: 'parsed', label, address, tree, otherTree, request: parsed, now, zone } as const
  return maxGapUs === null ? read : { ...read, maxGapUs }
}

/** The request, with its reference time and zone: the call's, or those of the cursor that it goes on from. */
function readDetails(
  type: RequestType,
  fields: Readonly<Record<string, unknown>>,
  details: Details,
  address: string,
  context: LabelContext,
) {
  const { now, zone } = context
  const cursorText = type.cursorOf?.(details) ?? null
  if (cursorText === null) return { parsed: type.read(details, now, null), now, zone }
  const cursor = parseCursor(cursorText, type.name, address)
  const place = { ...context, now: cursor.now, zone: cursor.zone }
  const page = new Details({ ...fields, ...cursor.details }, type, place)
  return { parsed: type.read(page, cursor.now, cursor.resumeAt), now: cursor.now, zone: cursor.zone }
}

function readType(input: unknown): RequestType {
  const type = typeof input === 'string' ? REQUEST_TYPES.get(input) : undefined
  if (type !== undefined) return type
  const values = { input: showInput(input), expected: listWords([...REQUEST_TYPES.keys()]) }
  throw new TidemarkError('UNKNOWN_REQUEST_TYPE', values, { place: { input: values.input } })
}

function readFormat(input: unknown): 'points' | 'columns' {
  if (input === undefined || input === null || input === 'points') return 'points'
  if (input === 'columns') return 'columns'
  throw invalidField('format', input, 'points or columns')
}
