import { warningsField } from '../errors/error-body.ts'
import { invalidInput, readBody, readObject, readOptionalFlag } from '../errors/fields.ts'
import type { Outcome, Result } from '../errors/outcome.ts'
import { type Issue, issue, issueOf, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import type { CallContext, Historian, MetadataPut, PutMode, TagMetadata } from '../historian/contract.ts'
import { untilAborted } from '../historian/deadline.ts'
import { metadataAfter, tagMetadata } from '../historian/tag-metadata.ts'
import { isAliases } from '../historian/visible-aliases.ts'
import { fieldNames } from '../json/field-names.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach, mapEach } from '../scheduling/each.ts'
import { changeError } from './apply.ts'
import { answer, readTags, type WriteCall } from './call.ts'
import { ByHistorian, findMetadata } from './existence.ts'
import { checkTags, DEFAULT_WRITE_LIMITS } from './limits.ts'
import { type Members, membersOf } from './members.ts'
import { readMetadataEntry } from './metadata-entry.ts'
import { addressIssue, findReadable, findWritable, type TagName, tagIssue } from './target.ts'

/** The answer to metadata/create and metadata/update. Objects by address have no prototype: an address is any text. */
export interface MetadataBody {
  /** The sentence of a request that was refused as a whole. */
  readonly message?: string
  readonly handledEntries: Members<TagMetadata>
  readonly errors: Members<string>
  readonly issues?: readonly Issue[]
  readonly warnings?: readonly string[]
}

/** The answer to metadata/get. */
export interface MetadataGetBody {
  readonly message?: string
  readonly entries: Members<TagMetadata>
  readonly errors: Members<string>
  readonly issues?: readonly Issue[]
  readonly warnings?: readonly string[]
}

/**
 * POST /historian/metadata/create: makes tags; existing ones are overwritten only with `updateIfExists`.
 * @returns `done`, also with `errors` of single entries; `refused`; `unavailable` and the like when a historian failed
 *          and nothing was handled
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
      checkTags(addresses.length, call.limits ?? DEFAULT_WRITE_LIMITS)
      return readMetadata(addresses, warnings, call, context)
    },
    (error) => ({ ...refusalBody(error), entries: noEntries<TagMetadata>() }),
  )
}

function refusePut(error: TidemarkError): MetadataBody {
  return { ...refusalBody(error), handledEntries: noEntries<TagMetadata>() }
}

function refusalBody(error: TidemarkError) {
  // Clients take an empty object for success, whatever the status.
  const errors = noEntries<string>()
  errors['*'] = error.message
  return { message: error.message, errors, issues: [issueOf(error)] }
}

function readEntries(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return readObject(fields, 'entries', 'an object of metadata by tag address')
}

interface Put {
  readonly name: TagName
  readonly metadata: MetadataPut
}

async function putMetadata(
  entries: Readonly<Record<string, unknown>>,
  mode: PutMode,
  warnings: Warnings,
  call: WriteCall,
  context: CallContext,
): Promise<Result<MetadataBody>> {
  const report = new Report()
  const puts = new ByHistorian<Put>()
  const addresses = fieldNames(entries)
  checkTags(addresses.length, call.limits ?? DEFAULT_WRITE_LIMITS)
  const scheduler = new CooperativeScheduler(context.signal)
  await forEach(addresses, scheduler, (address) => {
    const target = findWritable(address, call.historians)
    if (target.kind !== 'found') {
      report.fail(address, [target.issue])
      return
    }
    const { metadata, issues } = readMetadataEntry(entries[address], address, warnings)
    if (issues.length > 0) report.fail(address, issues)
    else puts.add(target.historian, { name: target.name, metadata })
  })
  context.signal.throwIfAborted()
  await Promise.all(
    Array.from(puts, async ([historian, group]) => putGroup(historian, group, mode, report, context)),
  )
  // What was stored is said, also when the deadline passes now.
  const reading = afterwards()
  const handledEntries = await report.sorted(report.entries, addresses, reading)
  return report.result({ handledEntries }, addresses, warnings, reading)
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
    const before = new CooperativeScheduler(context.signal)
    const entries = await mapEach(group, before, ({ name, metadata }) => ({ name: name.tag, metadata }))
    const outcomes = await historian.putTags(entries, mode, context)
    const scheduler = afterwards()
    const keeping: TagName[] = []
    if (mode !== 'create') {
      await forEach(group, scheduler, ({ name, metadata }, index) => {
        if (outcomes[index] === 'stored' && keepsFields(metadata)) keeping.push(name)
      })
    }
    const kept = await findKept(historian, keeping, context, scheduler)
    await forEach(group, scheduler, ({ name, metadata }, index) => {
      const outcome = outcomes[index]
      if (outcome === 'stored')
        report.entries.set(name.address, metadataAfter(kept.get(name) ?? null, metadata))
      else if (outcome instanceof TidemarkError)
        report.fail(name.address, [issueOf(outcome, { tag: name.address })])
      else report.fail(name.address, [tagIssue(outcome === 'exists' ? 'TAG_EXISTS' : 'TAG_NOT_FOUND', name)])
    })
  } catch (error) {
    report.failAll(
      changeError(historian, error),
      group.map((put) => put.name),
    )
  }
}

/** Of work after a change, which is done also when the deadline passes meanwhile. */
function afterwards(): CooperativeScheduler {
  return new CooperativeScheduler(new AbortController().signal)
}

/** Whether some of a tag's metadata stays as it is. */
function keepsFields({ maxGap, states }: MetadataPut): boolean {
  return maxGap === undefined || states === undefined
}

/**
 * What the tags of entries have now. They are stored by then: what keeps the historian from answering, the end of the
 * call included, makes no error of that.
 */
async function findKept(
  historian: Historian,
  names: readonly TagName[],
  context: CallContext,
  scheduler: CooperativeScheduler,
): Promise<ReadonlyMap<TagName, TagMetadata>> {
  const kept = new Map<TagName, TagMetadata>()
  if (names.length === 0) return kept
  const tags = await mapEach(names, scheduler, ({ tag }) => tag)
  // A driver may reject at once or later.
  const found = await untilAborted(context.signal, () => historian.findTags(tags, context)).catch(() => [])
  await forEach(names, scheduler, (name, index) => {
    const metadata = found[index] ?? null
    if (metadata !== null) kept.set(name, metadata)
  })
  return kept
}

async function readMetadata(
  addresses: readonly unknown[],
  warnings: Warnings,
  call: WriteCall,
  context: CallContext,
): Promise<Result<MetadataGetBody>> {
  const report = new Report()
  const asked = new Set<string>()
  const tags = new ByHistorian<TagName>()
  const aliases: TagName[] = []
  const scheduler = new CooperativeScheduler(context.signal)
  await forEach(addresses, scheduler, (address, index) => {
    // Errors stand under addresses, and what is no text cannot be one.
    if (typeof address !== 'string')
      throw invalidInput(showInput(address), `${addressIssue(address).message} at place ${index} of tags`)
    if (asked.has(address)) return
    asked.add(address)
    const target = findReadable(address, call.historians)
    if (target.kind === 'found') tags.add(target.historian, target.name)
    else if (target.kind === 'virtual' && isAliases(target.name.historian)) aliases.push(target.name)
    else report.fail(address, [target.kind === 'virtual' ? virtualIssue(target.name) : target.issue])
  })
  const { found, failed } = await findMetadata(tags, context)
  for (const [historian, names] of tags) {
    const failure = failed.get(historian)
    if (failure !== undefined) {
      report.failAll(failure, names)
      continue
    }
    await forEach(names, scheduler, (name) => {
      const metadata = found.get(name)
      if (metadata === undefined) report.fail(name.address, [tagIssue('TAG_NOT_FOUND', name)])
      else report.entries.set(name.address, copyOf(metadata))
    })
  }
  await readAliases(aliases, report, call, context)
  const order = [...asked]
  const entries = await report.sorted(report.entries, order, scheduler)
  return report.result({ entries }, order, warnings, scheduler)
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
function copyOf(metadata: TagMetadata): TagMetadata {
  return tagMetadata(metadata, metadata)
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

  async sorted<Value>(
    byAddress: ReadonlyMap<string, Value>,
    order: readonly string[],
    scheduler: CooperativeScheduler,
  ): Promise<Members<Value>> {
    const sorted = new Map<string, Value>()
    await forEach(order, scheduler, (address) => {
      const value = byAddress.get(address)
      if (value !== undefined) sorted.set(address, value)
    })
    return membersOf(sorted)
  }

  async result<Own extends object>(
    own: Own,
    order: readonly string[],
    warnings: Warnings,
    scheduler: CooperativeScheduler,
  ) {
    const errors = new Map<string, string>()
    const issues: Issue[] = []
    await forEach(order, scheduler, (address) => {
      const found = this.#issues.get(address)
      if (found === undefined) return
      errors.set(address, found.map((issue) => issue.message).join('; '))
      issues.push(...found)
    })
    return {
      outcome: this.#outcome(),
      body: {
        ...own,
        errors: membersOf(errors),
        ...(issues.length > 0 && { issues }),
        ...warningsField(warnings),
      },
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
