import { warningsField } from '../errors/error-body.ts'
import type { Outcome, Result } from '../errors/outcome.ts'
import { type Issue, issue, issueOf, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import type { CallContext, Historian, PutMode, TagMetadata } from '../historian/contract.ts'
import { isMetadataText, MAX_DESCRIPTION, MAX_UNITS, textExpected } from '../historian/metadata-text.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import {
  answer,
  isObject,
  readBody,
  readObject,
  readOptionalFlag,
  readTags,
  refused,
  type WriteCall,
} from './call.ts'
import { findMetadata, groupByHistorian } from './existence.ts'
import { addressIssue, findReadable, findWritable, type TagName, tagIssue } from './target.ts'

/** The answer to metadata/create and metadata/update. Objects by address have no prototype: an address is any text. */
export interface MetadataBody {
  /** The sentence of a request that was refused as a whole. */
  readonly message?: string
  readonly handledEntries: Readonly<Record<string, TagMetadata>>
  readonly errors: Readonly<Record<string, string>>
  readonly issues?: readonly Issue[]
  readonly warnings?: readonly string[]
}

/** The answer to metadata/get. */
export interface MetadataGetBody {
  readonly message?: string
  readonly entries: Readonly<Record<string, TagMetadata>>
  readonly errors: Readonly<Record<string, string>>
  readonly issues?: readonly Issue[]
  readonly warnings?: readonly string[]
}

/** Tags of one request; more are sent in several. */
const MAX_ENTRIES = 100_000

const METADATA_FIELDS = ['description', 'units', 'stepped'] as const

/**
 * POST /historian/metadata/create: makes tags; existing ones are overwritten only with `updateIfExists`.
 * @returns `done`, also with `errors` of single entries; `refused`; `unavailable` and the like when a historian failed and
 *          nothing was handled
 */
export async function createMetadata(body: unknown, call: WriteCall): Promise<Result<MetadataBody>> {
  return answer(
    call,
    async (context) => {
      const warnings = new Warnings()
      const fields = readBody(body, ['entries', 'updateIfExists'], warnings)
      const mode = readOptionalFlag(fields, 'updateIfExists') ? 'upsert' : 'create'
      return putMetadata(readEntries(fields), mode, warnings, call, context)
    },
    refusePut,
  )
}

/** POST /historian/metadata/update: as `createMetadata`; missing tags are made only with `createIfMissing`. */
export async function updateMetadata(body: unknown, call: WriteCall): Promise<Result<MetadataBody>> {
  return answer(
    call,
    async (context) => {
      const warnings = new Warnings()
      const fields = readBody(body, ['entries', 'createIfMissing'], warnings)
      const mode = readOptionalFlag(fields, 'createIfMissing') ? 'upsert' : 'update'
      return putMetadata(readEntries(fields), mode, warnings, call, context)
    },
    refusePut,
  )
}

/** POST /historian/metadata/get: metadata of named tags; the outcomes are those of `createMetadata`. */
export async function getMetadata(body: unknown, call: WriteCall): Promise<Result<MetadataGetBody>> {
  return answer(
    call,
    async (context) => {
      const warnings = new Warnings()
      const addresses = readTags(readBody(body, ['tags'], warnings))
      checkCount('tags', addresses.length)
      return readMetadata(addresses, warnings, call, context)
    },
    (error) => ({ ...refusalBody(error), entries: noEntries<TagMetadata>() }),
  )
}

function refusePut(error: TidemarkError): MetadataBody {
  return { ...refusalBody(error), handledEntries: noEntries<TagMetadata>() }
}

function refusalBody(error: TidemarkError) {
  return { message: error.message, errors: noEntries<string>(), issues: [issueOf(error)] }
}

function readEntries(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = readObject(fields, 'entries', 'an object of metadata by tag address')
  checkCount('entries', Object.keys(entries).length)
  return entries
}

/** Each entry has its own place in the answer, so their number is bounded instead of the number of sentences. */
function checkCount(field: string, count: number): void {
  if (count <= MAX_ENTRIES) return
  throw refused(`Invalid ${field}: ${count} of them in one request, at most ${MAX_ENTRIES} are expected`)
}

interface Put {
  readonly historian: Historian
  readonly name: TagName
  readonly metadata: TagMetadata
}

async function putMetadata(
  entries: Readonly<Record<string, unknown>>,
  mode: PutMode,
  warnings: Warnings,
  call: WriteCall,
  context: CallContext,
): Promise<Result<MetadataBody>> {
  const report = new Report()
  const puts: Put[] = []
  for (const [address, input] of Object.entries(entries)) {
    const target = findWritable(address, call.historians)
    if (target.kind !== 'found') {
      report.fail(address, [target.issue])
      continue
    }
    const { metadata, issues } = readEntry(input, address, warnings)
    if (issues.length > 0) report.fail(address, issues)
    else puts.push({ historian: target.historian, name: target.name, metadata })
  }
  context.signal.throwIfAborted()
  await Promise.all(
    Array.from(groupByHistorian(puts), async ([historian, group]) =>
      putGroup(historian, group, mode, report, context),
    ),
  )
  const handledEntries = report.sorted(report.entries, Object.keys(entries))
  return report.result({ handledEntries }, Object.keys(entries), warnings)
}

/** Has one historian store its entries; when it fails, so does each of them, and the other historians' are stored. */
async function putGroup(
  historian: Historian,
  group: readonly Put[],
  mode: PutMode,
  report: Report,
  context: CallContext,
): Promise<void> {
  try {
    const entries = group.map(({ name, metadata }) => ({ name: name.tag, metadata }))
    const outcomes = await historian.putTags(entries, mode, context)
    group.forEach(({ name, metadata }, index) => {
      const outcome = outcomes[index]
      if (outcome === 'stored') report.entries.set(name.address, metadata)
      else report.fail(name.address, [tagIssue(outcome === 'exists' ? 'TAG_EXISTS' : 'TAG_NOT_FOUND', name)])
    })
  } catch (error) {
    report.failAll(
      error,
      group.map((put) => put.name),
    )
  }
}

async function readMetadata(
  addresses: readonly unknown[],
  warnings: Warnings,
  call: WriteCall,
  context: CallContext,
): Promise<Result<MetadataGetBody>> {
  const report = new Report()
  const asked = new Set<string>()
  const reads: { readonly historian: Historian; readonly name: TagName }[] = []
  const aliases: TagName[] = []
  addresses.forEach((address, index) => {
    // Errors stand under addresses, and what is no text cannot be one.
    if (typeof address !== 'string')
      throw refused(`${addressIssue(address).message} at place ${index} of tags`)
    if (asked.has(address)) return
    asked.add(address)
    const target = findReadable(address, call.historians)
    if (target.kind === 'found') reads.push(target)
    else if (target.kind === 'virtual' && isAliases(target.name.historian)) aliases.push(target.name)
    else report.fail(address, [target.kind === 'virtual' ? virtualIssue(target.name) : target.issue])
  })
  const groups = groupByHistorian(reads)
  const tags = new Map(
    Array.from(groups, ([historian, group]) => [historian, group.map((read) => read.name)]),
  )
  const { found, failed } = await findMetadata(tags, context)
  for (const [historian, names] of tags) {
    const failure = failed.get(historian)
    if (failure !== undefined) {
      report.failAll(failure, names)
      continue
    }
    for (const name of names) {
      const metadata = found.get(name)
      if (metadata === undefined) report.fail(name.address, [tagIssue('TAG_NOT_FOUND', name)])
      else report.entries.set(name.address, copyOf(metadata))
    }
  }
  await readAliases(aliases, report, call, context)
  const order = [...asked]
  return report.result({ entries: report.sorted(report.entries, order) }, order, warnings)
}

async function readAliases(
  names: readonly TagName[],
  report: Report,
  call: WriteCall,
  context: CallContext,
): Promise<void> {
  if (names.length === 0) return
  try {
    const found = await call.historians.aliases?.findTags(
      names.map(({ tag }) => tag),
      context,
    )
    names.forEach((name, index) => {
      const metadata = found?.[index] ?? null
      if (metadata === null) report.fail(name.address, [tagIssue('TAG_NOT_FOUND', name)])
      else report.entries.set(name.address, copyOf(metadata))
    })
  } catch (error) {
    if (context.signal.aborted || !(error instanceof TidemarkError)) throw error
    report.failAll(error, names)
  }
}

/** Whatever else a driver's object holds stays inside. */
function copyOf({ description, units, stepped }: TagMetadata): TagMetadata {
  return { description, units, stepped }
}

/** A virtual tag is read like any other, but nothing about it is stored. */
function virtualIssue({ historian, address }: TagName): Issue {
  return issue('NOT_SUPPORTED', { historian, operation: 'hold metadata' }, { tag: address })
}

/** What became of each entry of a request. */
class Report {
  readonly entries = new Map<string, TagMetadata>()
  readonly #issues = new Map<string, readonly Issue[]>()
  readonly #failures: unknown[] = []

  fail(address: string, issues: readonly Issue[]): void {
    this.#issues.set(address, issues)
  }

  /** All entries of a historian that failed. */
  failAll(error: unknown, names: readonly TagName[]): void {
    this.#failures.push(error)
    for (const { address } of names) this.fail(address, [issueOf(error, { tag: address })])
  }

  sorted<Value>(byAddress: ReadonlyMap<string, Value>, order: readonly string[]): Record<string, Value> {
    const sorted = noEntries<Value>()
    for (const address of order) {
      const value = byAddress.get(address)
      if (value !== undefined) sorted[address] = value
    }
    return sorted
  }

  result<Own extends object>(own: Own, order: readonly string[], warnings: Warnings) {
    const byAddress = this.sorted(this.#issues, order)
    const errors = noEntries<string>()
    for (const address in byAddress) {
      errors[address] = byAddress[address]!.map((issue) => issue.message).join('; ')
    }
    const issues = Object.values(byAddress).flat()
    return {
      outcome: this.#outcome(),
      body: { ...own, errors, ...(issues.length > 0 && { issues }), ...warningsField(warnings) },
      ...(this.#failures.length > 0 && { failures: this.#failures }),
    }
  }

  #outcome(): Outcome {
    const [failure] = this.#failures
    if (failure === undefined || this.entries.size > 0) return 'done'
    return failure instanceof TidemarkError ? failure.kind : 'bug'
  }
}

function noEntries<Value>(): Record<string, Value> {
  return Object.create(null)
}

interface ReadEntry {
  readonly metadata: TagMetadata
  readonly issues: readonly Issue[]
}

/** Checks the metadata of one tag, each field for itself; one that is left out or null is null, null or false. */
function readEntry(input: unknown, address: string, warnings: Warnings): ReadEntry {
  const issues: Issue[] = []
  const reject = (field: string, value: unknown, expected: string) => {
    const shown = showInput(value)
    const values = { field, input: shown, address, expected }
    issues.push(issue('INVALID_METADATA', values, { tag: address, input: shown }))
  }
  if (!isObject(input)) {
    reject('metadata', input, 'an object with description, units and stepped')
    return { metadata: NO_METADATA, issues }
  }
  warnings.checkFields(input, METADATA_FIELDS, 'the metadata of a tag')
  const readText = (field: string, max: number): string | null => {
    const value = input[field] ?? null
    if (isMetadataText(value, max)) return value
    reject(field, value, textExpected(max))
    return null
  }
  const description = readText('description', MAX_DESCRIPTION)
  const units = readText('units', MAX_UNITS)
  const stepped = input.stepped ?? false
  if (typeof stepped !== 'boolean') reject('stepped', stepped, 'true or false')
  return { metadata: { description, units, stepped: stepped === true }, issues }
}

const NO_METADATA: TagMetadata = { description: null, units: null, stepped: false }
