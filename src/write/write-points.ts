import { type ErrorBody, errorBody, errorBodyOf } from '../errors/error-body.ts'
import { readBody, readFlag, readObject } from '../errors/fields.ts'
import { HintBudget } from '../errors/hint-budget.ts'
import type { Result } from '../errors/outcome.ts'
import { issueOf, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { formatAddress } from '../grammar/address.ts'
import type { CallContext, Historian, WriteBatch } from '../historian/contract.ts'
import { fieldNames } from '../json/field-names.ts'
import { cutJson, readJson } from '../json/parse.ts'
import { checkValues, type JsonRules, mostValues } from '../json/rules.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import { readClock } from '../time/clock.ts'
import { applyAll, WRITE_CODES } from './apply.ts'
import type { PlainPoints } from './body/points-body.ts'
import type { PointsReader } from './body/points-reader.ts'
import { answer, type WriteCall } from './call.ts'
import { checkFailed, doneAnswer, failedAnswer, issuesAnswer } from './check.ts'
import {
  ByHistorian,
  type Existence,
  findMetadata,
  findMissing,
  findUnreachable,
  type TagsByHistorian,
} from './existence.ts'
import { IssueList } from './issues.ts'
import { checkTags, DEFAULT_WRITE_LIMITS, type WriteLimits } from './limits.ts'
import { type ReadTag, readTags } from './read-tags.ts'
import { StateNames } from './state-names.ts'
import { batchOf, type TagToWrite } from './tag-batch.ts'
import { cutInput, type PointsInput, parsedInput, valuesMade } from './tag-inputs.ts'
import { type TagName, tagIssue } from './target.ts'
import { addTooOld, OLD_POINTS_LEFT_OUT } from './too-old.ts'

const FIELDS = ['points', 'createTags', 'now', 'timeZone'] as const

/**
 * POST /historian/write/points: checks the whole request, and only when nothing is wrong with it writes all of it.
 * @param body the parsed JSON body, whatever it is
 * @returns `done`; `issues` (nothing was written, no tag made, but where all of them are POINT_TOO_OLD: then all other
 *          points were); `refused` (nothing was written, no tag made); `unavailable` (when several historians are
 *          written to, `errors` say what became of each one's points); `deadline`, `cancelled`
 */
export async function writePoints(body: unknown, call: WriteCall): Promise<Result<ErrorBody>> {
  return answer(call, async (context) => writeParsed(body, call, context), errorBodyOf)
}

/**
 * The same for a body that was not yet parsed, under one deadline. Most are in canonical form (body/points-body.ts),
 * whose points are read several times as fast; any other long one is read in cuts.
 * @param bytes  of the body; not used any more once this has settled
 * @param isRead called before that when they are not needed any more
 * @param hold   called with the number of values that parsing it will make, but for points that are read in cuts; may
 *               throw
 * @param holdPoints  called with the bytes that points take, with those of the body where it is not canonical, as they
 *                    become more; may throw
 */
export async function writeBody(
  bytes: Buffer,
  call: WriteCall,
  reader: PointsReader,
  isRead: () => void,
  hold: (values: number) => void,
  holdPoints?: (bytes: number) => void,
): Promise<Result<ErrorBody>> {
  return answer(
    call,
    async (context) => {
      const scheduler = new CooperativeScheduler(context.signal)
      if (bytes.length > SMALL_BYTES) await scheduler.yieldIfDue()
      const limits = call.limits ?? DEFAULT_WRITE_LIMITS
      const canonical = await reader.read(bytes, call.historians, context.signal, limits.tags, holdPoints)
      if (canonical !== null) {
        isRead()
        return writeCanonical(canonical, context)
      }
      const written = await writeCuts(bytes, call, context, scheduler, hold, holdPoints)
      if (written !== null) return written
      return writeParsed(await readJson(bytes, rulesOf(limits), scheduler, hold), call, context)
    },
    errorBodyOf,
  )
}

/** A body of up to this size is read without a yield to the event loop. */
const SMALL_BYTES = 8_192

function rulesOf(limits: WriteLimits): JsonRules {
  const { tags: most } = limits
  const refuse = () => new TidemarkError('LIMIT_TAGS', { limit: most })
  return { counted: { field: 'points', most, refuse } }
}

/** Of a point as it was read, and once more in what is written. */
const BYTES_OF_POINT = 2 * 17

/** A long body in cuts; `null` for one that is to be read as a whole. */
async function writeCuts(
  bytes: Buffer,
  call: WriteCall,
  context: CallContext,
  scheduler: CooperativeScheduler,
  hold: (values: number) => void,
  holdPoints: (bytes: number) => void = () => {},
): Promise<Result<ErrorBody> | null> {
  const json = await cutJson(bytes, rulesOf(call.limits ?? DEFAULT_WRITE_LIMITS), scheduler)
  if (json === null) return null
  const values = valuesMade(json)
  checkValues(values, mostValues(bytes.length))
  hold(values)
  const steps = cutInput(json)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) {
      const holdMore = (points: number) => holdPoints(bytes.length + BYTES_OF_POINT * points)
      return value === null ? null : write(value, call, context, holdMore)
    }
    await scheduler.yieldIfDue()
  }
}

/** Only a body in canonical form (body/points-body.ts); `null` for any other, and then nothing was done. */
export async function writePlainPoints(
  bytes: Uint8Array,
  call: WriteCall,
  reader: PointsReader,
): Promise<Result<ErrorBody> | null> {
  return answer(
    call,
    async (context) => {
      const canonical = await reader.read(bytes, call.historians, context.signal)
      return canonical === null ? null : writeCanonical(canonical, context)
    },
    errorBodyOf,
  )
}

async function writeCanonical(
  { historian, historianName, batch, release }: PlainPoints,
  context: CallContext,
): Promise<Result<ErrorBody>> {
  const warnings = new Warnings()
  const tags = () => new Map([[historian, batch.tags.map((tag) => tagNameOf(historianName, tag))]])
  // A historian that takes all of a batch or nothing finds out by itself whether its tags are there.
  if (!batch.createTags && historian.capabilities.atomicWrites !== 'request') {
    const { missing, failures } = await findMissing(tags(), context)
    const issues = new IssueList()
    for (const name of missing) issues.add(() => tagIssue('TAG_NOT_FOUND', name))
    const wrong = checkFailed(issues, failures, warnings)
    if (wrong !== null) return wrong
  }
  const result = await apply([[historian, batch]], tags, warnings, context)
  // After a failure the historian may still be at work with them.
  if (result.outcome === 'done') release()
  return result
}

async function writeParsed(body: unknown, call: WriteCall, context: CallContext): Promise<Result<ErrorBody>> {
  // An object that was parsed has no name twice.
  return (await write(parsedInput(body), call, context))!
}

/**
 * `null` when only who has the whole body can write it, which is never so for one that was parsed at once.
 * @param hold  called with the number of points before they are copied, as they become more; may throw
 */
async function write(
  input: PointsInput,
  call: WriteCall,
  context: CallContext,
  hold: (points: number) => void = () => {},
): Promise<Result<ErrorBody> | null> {
  const warnings = new Warnings()
  const fields = readBody(input.fields, FIELDS, warnings)
  const clock = readClock(fields, call)
  const createTags = readFlag(fields, 'createTags')
  const points = readObject(fields, 'points', 'an object of points by tag address')
  checkTags(fieldNames(points).length, call.limits ?? DEFAULT_WRITE_LIMITS)

  const scheduler = new CooperativeScheduler(context.signal)
  const readWith = (states: StateNames) =>
    readTags(
      input.tags(),
      call.historians,
      { ...clock, warnings, hints: new HintBudget(), states },
      scheduler,
    )
  const states = new StateNames()
  let read = await readWith(states)
  if (read === null) return null
  const known = await findStates(states.unknown, read, context, scheduler)
  if (known.size > 0) read = (await readWith(new StateNames(known)))!
  const tags = await tagsToAsk(read, scheduler)
  const existence = await (createTags ? checkReachable(tags, context) : findMissing(tags, context))
  const issues = new IssueList()
  const entries = new ByHistorian<TagToWrite>()
  // In the order of the request, those of a tag before those of its points.
  await forEach(read, scheduler, (tag) => {
    const { target } = tag
    if (target.kind !== 'found') issues.add(() => target.issue)
    else if (existence.missing.has(target.name)) issues.add(() => tagIssue('TAG_NOT_FOUND', target.name))
    issues.addAll(tag.issues)
    if (target.kind === 'found') entries.add(target.historian, { tag: target.name.tag, read: tag })
  })
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return wrong

  const batches: (readonly [Historian, WriteBatch])[] = []
  let held = 0
  const holdMore = (points: number) => {
    held += points
    hold(held)
  }
  for (const [historian, parts] of entries) {
    batches.push([historian, await batchOf(parts, createTags, scheduler, holdMore)])
  }
  return apply(batches, () => tags, warnings, context)
}

/**
 * States by address of those tags that have some. What keeps a historian from answering shows in the checks that
 * follow.
 */
async function findStates(
  names: ReadonlyMap<string, TagName>,
  read: readonly ReadTag[],
  context: CallContext,
  scheduler: CooperativeScheduler,
): Promise<ReadonlyMap<string, TagStates>> {
  const states = new Map<string, TagStates>()
  if (names.size === 0) return states
  const tags = await tagsToAsk(
    read.filter(({ target }) => target.kind === 'found' && names.has(target.name.address)),
    scheduler,
  )
  const { found } = await findMetadata(tags, context)
  for (const [{ address }, metadata] of found) {
    if (metadata.states !== undefined) states.set(address, metadata.states)
  }
  return states
}

function tagNameOf(historian: string, tag: string): TagName {
  return { address: formatAddress(historian, tag), historian, tag }
}

/** Writes a request that was found right. */
async function apply(
  batches: readonly (readonly [Historian, WriteBatch])[],
  /** Those of the batches, for the case that some are missing. */
  tags: () => TagsByHistorian,
  warnings: Warnings,
  context: CallContext,
): Promise<Result<ErrorBody>> {
  const tooOld = new IssueList()
  const steps = batches.map(([historian, batch]) => {
    const run = async (stepContext: CallContext) => {
      const left = await historian.write(batch, stepContext)
      if (left) addTooOld(tooOld, historian, batch, left)
    }
    return { historian, run }
  })
  const applied = await applyAll(steps, WRITE_CODES, context)
  switch (applied.kind) {
    case 'done':
      return tooOld.count === 0
        ? doneAnswer('All points written!', warnings)
        : {
            outcome: 'issues',
            body: { ...errorBody(OLD_POINTS_LEFT_OUT, tooOld.list(), warnings), tooOld: tooOld.count },
          }
    case 'rejected':
      return rejectedAnswer(applied.error, batches[0]![1].createTags, tags, context, warnings)
    case 'failed':
      return failedAnswer(
        { ...applied, issues: [...applied.issues, ...tooOld.list()] },
        'The points could not all be written',
        warnings,
      )
  }
}

async function tagsToAsk(
  read: readonly ReadTag[],
  scheduler: CooperativeScheduler,
): Promise<TagsByHistorian> {
  const names = new ByHistorian<TagName>()
  await forEach(read, scheduler, ({ target }) => {
    if (target.kind === 'found') names.add(target.historian, target.name)
  })
  return names
}

/**
 * Tags that will be made need not be looked for. With one historian the write itself shows whether it can be reached;
 * with several, none may be written to before all are known to be there.
 */
async function checkReachable(tags: TagsByHistorian, context: CallContext): Promise<Existence> {
  const historians = [...tags.keys()]
  const failures = historians.length > 1 ? await findUnreachable(historians, context) : []
  return { missing: new Set(), failures }
}

/** Somebody deleted a tag between the check and the write: says which, as the check would have. */
async function rejectedAnswer(
  error: TidemarkError,
  createTags: boolean,
  tags: () => TagsByHistorian,
  context: CallContext,
  warnings: Warnings,
): Promise<Result<ErrorBody>> {
  if (error.code === 'TAG_NOT_FOUND' && !createTags) {
    const { missing } = await findMissing(tags(), context)
    const issues = new IssueList()
    for (const name of missing) issues.add(() => tagIssue('TAG_NOT_FOUND', name))
    if (issues.count > 0) return issuesAnswer(issues.list(), warnings)
  }
  return issuesAnswer([issueOf(error)], warnings)
}
