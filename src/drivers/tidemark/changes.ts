import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, PutMode, PutOutcome, TagEntry, WriteBatch } from '../../historian/contract.ts'
import { outcomeUnknown, wasNeverSent } from '../../historian/remote/unavailable.ts'
import { pointsOfTag } from '../../historian/write-batch.ts'
import { concatColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { errorOfIssue, notUnderstood, type UpstreamIssue } from './errors.ts'
import { type Answer, type CallKind, type Instance, isObject } from './instance.ts'

/** The body of write/points: columns in microseconds, one object for each tag. */
export function writeBody(batch: WriteBatch, addressOf: (tag: string) => string): string {
  const byTag = new Map<string, PointColumns>()
  batch.tags.forEach((tag, index) => {
    const points = pointsOfTag(batch, index)
    const before = byTag.get(tag)
    // Named twice, its points count as if they came one after the other.
    byTag.set(tag, before === undefined ? points : concatColumns([before, points]))
  })
  const parts = Array.from(
    byTag,
    ([tag, points]) => `${JSON.stringify(addressOf(tag))}:${columnsText(points)}`,
  )
  return `{"createTags":${batch.createTags},"points":{${parts.join(',')}}}`
}

function columnsText({ times, values, statuses }: PointColumns): string {
  const bad = statuses.includes(STATUS_BAD)
    ? `,"statuses":[${Array.from(statuses, (status) => (status === STATUS_BAD ? '"BAD"' : '"OK"')).join(',')}]`
    : ''
  return `{"unit":"us","timestamps":[${times.join(',')}],"values":[${numbersText(values)}]${bad}}`
}

/** Numbers with the sign of each zero, which JSON has and `join` does not write. */
function numbersText(values: Float64Array): string {
  return values.some((value) => Object.is(value, -0))
    ? Array.from(values, (value) => (Object.is(value, -0) ? '-0' : String(value))).join(',')
    : values.join(',')
}

/**
 * Sends a change, once. What the answer says is wrong with it is thrown as what it means here; nothing was changed then. A
 * change that was cut off may have been made: WRITE_OUTCOME_UNKNOWN.
 * @param nameOf    name here of an address there
 */
export async function sendChange(
  instance: Instance,
  kind: CallKind,
  path: string,
  body: string,
  nameOf: (address: string) => string,
  context: CallContext,
): Promise<Answer> {
  const { historian } = instance
  let answer: Answer
  try {
    answer = await instance.call(kind, path, body, context)
  } catch (error) {
    throw isSurelyUndone(error, instance) ? error : outcomeUnknown(historian, error)
  }
  if (answer.status === 200) return answer
  const [issue] = answer.issues
  if (answer.status === 504) throw outcomeUnknown(historian, errorOfUnknown(historian, issue))
  if (issue === undefined) throw notUnderstood(historian, `HTTP status ${answer.status} without a reason`)
  const cut = answer.issues.find(({ code }) => code.endsWith('_OUTCOME_UNKNOWN'))
  if (cut !== undefined) throw outcomeUnknown(historian, errorOfIssue(historian, cut))
  throw changeError(historian, issue, nameOf)
}

function errorOfUnknown(historian: string, issue: UpstreamIssue | undefined): TidemarkError {
  return issue === undefined
    ? notUnderstood(historian, 'HTTP status 504 without a reason')
    : errorOfIssue(historian, issue)
}

/** Errors that the instance or the way to it gives before anything can have been changed. */
function isSurelyUndone(error: unknown, instance: Instance): boolean {
  if (wasNeverSent(error) || instance.didNothing(error)) return true
  return error instanceof TidemarkError && ['invalid', 'limit', 'forbidden'].includes(error.kind)
}

/** An issue about a tag, in the words that the contract has for it. */
export function changeError(
  historian: string,
  issue: UpstreamIssue,
  nameOf: (address: string) => string,
): TidemarkError {
  const tag = issue.tag === null ? '' : nameOf(issue.tag)
  const address = `${historian}/${tag}`
  switch (issue.code) {
    case 'TAG_NOT_FOUND':
      return new TidemarkError('TAG_NOT_FOUND', { historian, tag }, { place: { tag: address } })
    case 'TAG_EXISTS':
    case 'RENAME_TWICE':
      return new TidemarkError('TAG_EXISTS', { address }, { place: { tag: address } })
    default:
      return errorOfIssue(historian, issue)
  }
}

/** Creates and overwrites metadata. The other instance stores the entries of a historian together, those that it may store. */
export async function putTags(
  instance: Instance,
  entries: readonly TagEntry[],
  mode: PutMode,
  addressOf: (tag: string) => string,
  nameOf: (address: string) => string,
  context: CallContext,
): Promise<readonly PutOutcome[]> {
  const { historian } = instance
  const byAddress = Object.create(null) as Record<string, TagEntry['metadata']>
  for (const { name, metadata } of entries) byAddress[addressOf(name)] = metadata
  const [path, options] =
    mode === 'update' ? ['update', {}] : ['create', { updateIfExists: mode === 'upsert' }]
  const body = JSON.stringify({ entries: byAddress, ...options })
  const answer = await sendChange(instance, 'metadata', `/historian/metadata/${path}`, body, nameOf, context)
  const { handledEntries } = answer.body
  const issues = new Map(answer.issues.map((issue) => [issue.tag, issue]))
  return entries.map(({ name }) => {
    const address = addressOf(name)
    if (isObject(handledEntries) && Object.hasOwn(handledEntries, address)) return 'stored'
    const issue = issues.get(address)
    if (issue === undefined) throw notUnderstood(historian, 'it says nothing of a tag')
    if (issue.code === 'TAG_EXISTS') return 'exists'
    if (issue.code === 'TAG_NOT_FOUND') return 'missing'
    throw errorOfIssue(historian, issue)
  })
}

/** Numbers by address of an answer. */
export function countsOf(
  historian: string,
  deleted: unknown,
  addresses: readonly string[],
): readonly number[] {
  return addresses.map((address) => {
    const count = isObject(deleted) && Object.hasOwn(deleted, address) ? deleted[address] : null
    if (typeof count !== 'number') throw notUnderstood(historian, 'it does not say how many points')
    return count
  })
}
