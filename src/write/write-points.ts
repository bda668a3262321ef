import { type ErrorBody, errorBodyOf } from '../errors/error-body.ts'
import type { Result } from '../errors/outcome.ts'
import { issueOf, type TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { formatAddress } from '../grammar/address.ts'
import { Breather } from '../historian/breather.ts'
import type { CallContext, Historian, WriteBatch } from '../historian/contract.ts'
import { type TagPoints, writeBatch } from '../historian/write-batch.ts'
import { applyAll, WRITE_CODES } from './apply.ts'
import type { PlainPoints } from './body/points-body.ts'
import type { PointsReader } from './body/points-reader.ts'
import { answer, readBody, readClock, readFlag, readObject, type WriteCall } from './call.ts'
import { checkFailed, doneAnswer, failedAnswer, issuesAnswer } from './check.ts'
import {
  type Existence,
  findMissing,
  findUnreachable,
  groupByHistorian,
  type TagsByHistorian,
} from './existence.ts'
import { IssueList } from './issues.ts'
import { type PointsContext, pointsReader } from './points.ts'
import { findWritable, type TagName, type Target, tagIssue } from './target.ts'

const FIELDS = ['points', 'createTags', 'now', 'timeZone'] as const

/** Points that are read between two looks at the clock. */
const PIECE = 1_000

/**
 * POST /historian/write/points: checks the whole request, and only when nothing is wrong with it writes all of it.
 * @param body the parsed JSON body, whatever it is
 * @returns `done`; `issues` or `refused` (nothing was written, no tag made); `unavailable` (when several historians are
 *          written to, `errors` say what became of each one's points); `deadline`, `cancelled`
 */
export async function writePoints(body: unknown, call: WriteCall): Promise<Result<ErrorBody>> {
  return answer(call, async (context) => write(body, call, context), errorBodyOf)
}

/**
 * The same for a body that was not yet parsed, if it is a plain one (body/points-body.ts): most are, and their points are
 * read several times as fast.
 * @param bytes  of the body; not used any more once this has settled
 * @param isRead called before that when they are not needed any more
 * @returns `null` when it is not plain: nothing was done, and `writePoints` has the answer
 */
export async function writePlainPoints(
  bytes: Uint8Array,
  call: WriteCall,
  reader: PointsReader,
  isRead: () => void = () => {},
): Promise<Result<ErrorBody> | null> {
  return answer(
    call,
    async (context) => {
      const plain = await reader.read(bytes, call.historians, context.signal)
      if (plain === null) return null
      isRead()
      return writePlain(plain, context)
    },
    errorBodyOf,
  )
}

async function writePlain(
  { historian, historianName, batch, release }: PlainPoints,
  context: CallContext,
): Promise<Result<ErrorBody>> {
  const warnings = new Warnings()
  // Their names are only needed where the tags may not be there.
  const names = batch.createTags ? [] : batch.tags.map((tag) => tagNameOf(historianName, tag))
  const tags = new Map([[historian, names]])
  if (!batch.createTags) {
    const { missing, failures } = await findMissing(tags, context)
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

async function write(body: unknown, call: WriteCall, context: CallContext): Promise<Result<ErrorBody>> {
  const warnings = new Warnings()
  const fields = readBody(body, FIELDS, warnings)
  const clock = readClock(fields, call)
  const createTags = readFlag(fields, 'createTags')
  const points = readObject(fields, 'points', 'an object of points by tag address')

  const entries = Object.entries(points).map(([address, input]) => {
    return { target: findWritable(address, call.historians), input }
  })
  const tags = tagsToAsk(entries)
  const existence = await (createTags ? checkReachable(tags, context) : findMissing(tags, context))
  const issues = new IssueList()
  const read = await readPoints(entries, existence.missing, { ...clock, issues, warnings }, context)
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return wrong

  const batches = Array.from(groupByHistorian(read), ([historian, parts]) => {
    const entries = parts.map((part) => part.points)
    return [historian, writeBatch(entries, createTags)] as const
  })
  return apply(batches, tags, warnings, context)
}

function tagNameOf(historian: string, tag: string): TagName {
  return { address: formatAddress(historian, tag), historian, tag }
}

/** Writes a request that was found right. */
async function apply(
  batches: readonly (readonly [Historian, WriteBatch])[],
  tags: TagsByHistorian,
  warnings: Warnings,
  context: CallContext,
): Promise<Result<ErrorBody>> {
  const steps = batches.map(([historian, batch]) => {
    return { historian, run: (stepContext: CallContext) => historian.write(batch, stepContext) }
  })
  const applied = await applyAll(steps, WRITE_CODES, context)
  switch (applied.kind) {
    case 'done':
      return doneAnswer('All points written!', warnings)
    case 'rejected':
      return rejectedAnswer(applied.error, batches[0]![1].createTags, tags, context, warnings)
    case 'failed':
      return failedAnswer(applied, 'The points could not all be written', warnings)
  }
}

/** An address of the request with its points, not yet read. */
interface Entry {
  readonly target: Target
  readonly input: unknown
}

function tagsToAsk(entries: readonly Entry[]): TagsByHistorian {
  const found = entries.map((entry) => entry.target).filter((target) => target.kind === 'found')
  return new Map(
    Array.from(groupByHistorian(found), ([historian, group]) => [
      historian,
      group.map((target) => target.name),
    ]),
  )
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

interface Part {
  readonly historian: Historian
  readonly points: TagPoints
}

/** Reads the points of all tags; the issues come in the order of the request, those of a tag before those of its points. */
async function readPoints(
  entries: readonly Entry[],
  missing: ReadonlySet<TagName>,
  pointsContext: PointsContext,
  { signal }: CallContext,
): Promise<readonly Part[]> {
  const { issues } = pointsContext
  const breather = new Breather(signal)
  const parts: Part[] = []
  let untilLook = PIECE
  for (const { target, input } of entries) {
    if (target.kind !== 'found') issues.add(() => target.issue)
    // Without a name there is nothing that a sentence about one of its points could say.
    if (target.kind === 'nameless') continue
    const { name } = target
    if (missing.has(name)) issues.add(() => tagIssue('TAG_NOT_FOUND', name))
    const reader = pointsReader(input, name, pointsContext)
    for (let start = 0; start < reader.length; start += PIECE) {
      const end = Math.min(start + PIECE, reader.length)
      reader.read(start, end)
      untilLook -= end - start
      if (untilLook > 0) continue
      untilLook = PIECE
      if (breather.isDue) await breather.rest()
    }
    if (target.kind === 'found') {
      parts.push({ historian: target.historian, points: { tag: name.tag, points: reader.columns } })
    }
  }
  return parts
}

/** Somebody deleted a tag between the check and the write: says which, as the check would have. */
async function rejectedAnswer(
  error: TidemarkError,
  createTags: boolean,
  tags: TagsByHistorian,
  context: CallContext,
  warnings: Warnings,
): Promise<Result<ErrorBody>> {
  if (error.code === 'TAG_NOT_FOUND' && !createTags) {
    const { missing } = await findMissing(tags, context)
    const issues = new IssueList()
    for (const name of missing) issues.add(() => tagIssue('TAG_NOT_FOUND', name))
    if (issues.count > 0) return issuesAnswer(issues.list(), warnings)
  }
  return issuesAnswer([issueOf(error)], warnings)
}
