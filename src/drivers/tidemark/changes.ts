import { isObject } from '../../errors/fields.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, PutMode, PutOutcome, TagPut, WriteBatch } from '../../historian/contract.ts'
import type { Attempt, RemoteChange } from '../../historian/remote/change.ts'
import { pointsOfTag } from '../../historian/write-batch.ts'
import { concatColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { errorOfIssue, notUnderstood, type UpstreamIssue } from './errors.ts'
import type { Answer, CallKind, Instance } from './instance.ts'
import { isCertain, isOutcomeUnknown } from './outcomes.ts'

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

/** A call that changes something there, or says what it would change. */
export interface ChangeCall {
  readonly kind: CallKind
  readonly path: string
  readonly body: string
}

/**
 * Sends a change and gives what its answer means. What the answer says is wrong with it is thrown as what it means
 * here.
 * @param understand of a 200; throws where it does not say what it should
 */
export type SendChange = <Result>(
  call: ChangeCall,
  understand: (answer: Answer, attempt: Attempt | null) => Result,
) => Promise<Result>

/** Changes as requests of one change; each is sent once, unless it was turned away or found no connection. */
export function changeSender(
  instance: Instance,
  change: RemoteChange,
  nameOf: (address: string) => string,
): SendChange {
  return ({ kind, path, body }, understand) =>
    change.request(async (attempt) => {
      const answer = await instance.change(kind, path, body, attempt)
      return understand(checked(instance.historian, answer, nameOf), attempt)
    })
}

/** Changes that are only tried out (`dryRun`), which are asked again like reads. */
export function trialSender(
  instance: Instance,
  context: CallContext,
  nameOf: (address: string) => string,
): SendChange {
  return async ({ kind, path, body }, understand) => {
    const answer = await instance.read(kind, path, body, context)
    return understand(checked(instance.historian, answer, nameOf), null)
  }
}

function checked(historian: string, answer: Answer, nameOf: (address: string) => string): Answer {
  if (answer.status === 200) return answer
  const [issue] = answer.issues
  if (issue === undefined) throw notUnderstood(historian, `HTTP status ${answer.status} without a reason`)
  throw changeError(historian, answer.issues.find(isOutcomeUnknown) ?? issue, nameOf)
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

/** Creates and overwrites metadata. The other instance stores the permitted entries of a historian together. */
export async function putTags(
  historian: string,
  entries: readonly TagPut[],
  mode: PutMode,
  addressOf: (tag: string) => string,
  send: SendChange,
): Promise<readonly PutOutcome[]> {
  const byAddress = Object.create(null) as Record<string, TagPut['metadata']>
  for (const { name, metadata } of entries) {
    const address = addressOf(name)
    byAddress[address] = { ...byAddress[address], ...metadata }
  }
  const [path, options] =
    mode === 'update' ? ['update', {}] : ['create', { updateIfExists: mode === 'upsert' }]
  const body = JSON.stringify({ entries: byAddress, ...options })
  const call: ChangeCall = { kind: 'metadata', path: `/historian/metadata/${path}`, body }
  return send(call, ({ body: { handledEntries }, issues }, attempt) => {
    const handled = isObject(handledEntries) ? handledEntries : {}
    if (Object.keys(handled).length > 0) attempt?.takenInPart()
    const byTag = new Map(issues.map((issue) => [issue.tag, issue]))
    // What is said of every entry is known, whatever it is.
    const isKnown = entries.every(({ name }) => {
      const address = addressOf(name)
      const issue = byTag.get(address)
      return Object.hasOwn(handled, address) || (issue !== undefined && isCertain(issue))
    })
    if (isKnown) attempt?.refused()
    return entries.map(({ name }): PutOutcome => {
      const address = addressOf(name)
      if (Object.hasOwn(handled, address)) return 'stored'
      const issue = byTag.get(address)
      if (issue === undefined) throw notUnderstood(historian, 'it says nothing of a tag')
      if (issue.code === 'TAG_EXISTS') return 'exists'
      if (issue.code === 'TAG_NOT_FOUND') return 'missing'
      const error = errorOfIssue(historian, issue)
      if (ofEntryAlone(error)) return error
      throw error
    })
  })
}

/** Whether an error is about what an entry holds, and not about the historian or the other instance. */
function ofEntryAlone({ code }: TidemarkError): boolean {
  return code === 'HISTORIAN_REFUSED'
}

/**
 * Whether an answer to write/points is the one that acknowledges: anything between here and there can answer with 200.
 */
export function checkWritten(historian: string): (answer: Answer) => void {
  return ({ body: { message } }) => {
    if (message !== ACKNOWLEDGED)
      throw notUnderstood(historian, 'it does not say that all points are written')
  }
}

const ACKNOWLEDGED = 'All points written!'

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
