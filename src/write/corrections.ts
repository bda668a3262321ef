import type { ErrorBody } from '../errors/error-body.ts'
import { isObject, readBody, readFlag, readObject } from '../errors/fields.ts'
import { HintBudget } from '../errors/hint-budget.ts'
import type { Result } from '../errors/outcome.ts'
import { Warnings } from '../errors/warnings.ts'
import type { CallContext, TagRange } from '../historian/contract.ts'
import { fieldNames } from '../json/field-names.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach, mapEach } from '../scheduling/each.ts'
import { readClock } from '../time/clock.ts'
import type { TimeErrorContext } from '../time/invalid-time.ts'
import { parseEndTime, parseTime } from '../time/parse.ts'
import { answer, readTags, refusalWith, type WriteCall } from './call.ts'
import { checkFailed } from './check.ts'
import { addTargetIssue, applyCorrection, DRY_RUN, findTarget, noEntries } from './correction-steps.ts'
import { ByHistorian, findMissing } from './existence.ts'
import { IssueList } from './issues.ts'
import { checkRanges, checkTags, DEFAULT_WRITE_LIMITS } from './limits.ts'
import { type Members, membersOf } from './members.ts'
import { inputIssue, type TagName, type Target, timestampIssue } from './target.ts'

/**
 * The corrections: each checks its whole request and then does all of it or nothing (of one historian; should one of
 * several fail, `errors` say what became of each one's part). metadata/rename is in rename.ts. The outcomes are those
 * of `writePoints`.
 */

/** The answer to delete/points and metadata/delete: points removed by address, empty unless all was done. */
export type DeleteBody = ErrorBody & { readonly deleted: Members<number> }

// ---- POST /historian/delete/points ----

interface RangeEntry {
  readonly name: TagName
  readonly range: TagRange
}

/** Removes the points of `[from, to)` ranges; a point in two ranges of its tag counts once. */
export async function deletePoints(body: unknown, call: WriteCall): Promise<Result<DeleteBody>> {
  return answer(
    call,
    (context) => runDeletePoints(body, call, context),
    refusalWith({ deleted: noEntries() }),
  )
}

async function runDeletePoints(
  body: unknown,
  call: WriteCall,
  context: CallContext,
): Promise<Result<DeleteBody>> {
  const warnings = new Warnings()
  const fields = readBody(body, ['ranges', 'dryRun', 'now', 'timeZone'], warnings)
  const clock = readClock(fields, call)
  const dryRun = readFlag(fields, 'dryRun')
  const ranges = readObject(fields, 'ranges', 'an object of ranges by tag address')

  const limits = call.limits ?? DEFAULT_WRITE_LIMITS
  const addresses = fieldNames(ranges)
  checkTags(addresses.length, limits)
  const scheduler = new CooperativeScheduler(context.signal)
  const targets: Target[] = []
  const asked = new ByHistorian<TagName>()
  let rangeCount = 0
  await forEach(addresses, scheduler, (address) => {
    const given = ranges[address]
    rangeCount += Array.isArray(given) ? given.length : 0
    const target = findTarget(address, 'deletePoints', call)
    targets.push(target)
    if (target.kind === 'found') asked.add(target.historian, target.name)
  })
  checkRanges(rangeCount, limits)
  const existence = await findMissing(asked, context)
  const issues = new IssueList()
  const rangesContext = { ...clock, issues, warnings, hints: new HintBudget() }
  const entries = new ByHistorian<RangeEntry>()
  const deleted = new Map<string, number>()
  for (const target of targets) {
    addTargetIssue(target, existence.missing, issues)
    if (target.kind === 'malformed') continue
    const { name } = target
    deleted.set(name.address, 0)
    const given = ranges[name.address]
    if (!Array.isArray(given)) {
      issues.add(() => inputIssue('INVALID_RANGES', given, name))
      continue
    }
    await forEach(given, scheduler, (one, index) => {
      const range = readRange(one, index, name, rangesContext)
      if (range !== null && target.kind === 'found') {
        entries.add(target.historian, { name, range })
      }
    })
    await scheduler.yieldIfDue()
  }
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return withDeleted(wrong, noEntries())

  const steps = Array.from(entries, ([historian, group]) => ({
    historian,
    run: async (stepContext: CallContext) => {
      const given = await mapEach(group, scheduler, (entry) => entry.range)
      const counts = await historian.deletePoints!(given, dryRun, stepContext)
      await forEach(group, afterwards(), ({ name: { address } }, index) => {
        deleted.set(address, deleted.get(address)! + counts[index]!)
      })
    },
  }))
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All points deleted!', warnings, context)
  return withDeleted(result, membersOf(deleted))
}

interface RangesContext extends TimeErrorContext {
  readonly issues: IssueList
  readonly warnings: Warnings
}

function readRange(range: unknown, index: number, name: TagName, context: RangesContext): TagRange | null {
  const { issues } = context
  if (!isObject(range)) {
    issues.add(() => inputIssue('INVALID_RANGE', range, name, index))
    return null
  }
  context.warnings.checkFields(range, ['from', 'to'], 'a range')
  const from = parseTime(range.from, context)
  const to = parseEndTime(range.to, context)
  if (from === null) issues.add(() => timestampIssue(range.from, name, context, index))
  if (to === null) issues.add(() => timestampIssue(range.to, name, context, index))
  if (from === null || to === null) return null
  if (from < to) return { tag: name.tag, from, to }
  issues.add(() => inputIssue('INVALID_RANGE', range, name, index))
  return null
}

// ---- POST /historian/metadata/delete ----

/** Removes tags with all their points. */
export async function deleteTags(body: unknown, call: WriteCall): Promise<Result<DeleteBody>> {
  return answer(call, (context) => runDeleteTags(body, call, context), refusalWith({ deleted: noEntries() }))
}

async function runDeleteTags(
  body: unknown,
  call: WriteCall,
  context: CallContext,
): Promise<Result<DeleteBody>> {
  const warnings = new Warnings()
  const fields = readBody(body, ['tags', 'dryRun'], warnings)
  const dryRun = readFlag(fields, 'dryRun')
  const scheduler = new CooperativeScheduler(context.signal)
  // A tag that is named twice is deleted once.
  const addresses = new Set<unknown>()
  await forEach(readTags(fields), scheduler, (address) => addresses.add(address))
  checkTags(addresses.size, call.limits ?? DEFAULT_WRITE_LIMITS)

  const targets: Target[] = []
  const found = new ByHistorian<TagName>()
  await forEach([...addresses], scheduler, (address) => {
    const target = findTarget(address, 'deleteTags', call)
    targets.push(target)
    if (target.kind === 'found') found.add(target.historian, target.name)
  })
  const existence = await findMissing(found, context)
  const issues = new IssueList()
  await forEach(targets, scheduler, (target) => addTargetIssue(target, existence.missing, issues))
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return withDeleted(wrong, noEntries())

  const deleted = new Map<string, number>()
  const steps = Array.from(found, ([historian, group]) => ({
    historian,
    run: async (stepContext: CallContext) => {
      const names = await mapEach(group, scheduler, (name) => name.tag)
      const counts = await historian.deleteTags!(names, dryRun, stepContext)
      await forEach(group, afterwards(), (name, index) => deleted.set(name.address, counts[index]!))
    },
  }))
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All tags deleted!', warnings, context)
  return withDeleted(result, membersOf(deleted))
}

/** What was deleted is said, also when the deadline passes meanwhile. */
function afterwards(): CooperativeScheduler {
  return new CooperativeScheduler(new AbortController().signal)
}

/** Counts are given only for what was done as a whole. */
function withDeleted(result: Result<ErrorBody>, deleted: Members<number>): Result<DeleteBody> {
  const { message, ...rest } = result.body
  return { ...result, body: { message, deleted: result.outcome === 'done' ? deleted : noEntries(), ...rest } }
}
