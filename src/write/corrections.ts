import type { ErrorBody } from '../errors/error-body.ts'
import type { Result } from '../errors/outcome.ts'
import { type Issue, issue, issueOf, showInput } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { parseAddress } from '../grammar/address.ts'
import { Breather } from '../historian/breather.ts'
import type { CallContext, Historian, TagRange, TagRename } from '../historian/contract.ts'
import type { Instant } from '../time/instant.ts'
import { parseTime } from '../time/parse.ts'
import type { TimeZone } from '../time/zone.ts'
import { type Applied, applyAll, CHANGE_CODES, type Step } from './apply.ts'
import {
  answer,
  isObject,
  readBody,
  readClock,
  readFlag,
  readObject,
  readTags,
  refusalWith,
  type WriteCall,
} from './call.ts'
import { checkFailed, doneAnswer, failedAnswer, issuesAnswer } from './check.ts'
import { findMissing, groupByHistorian } from './existence.ts'
import { IssueList } from './issues.ts'
import { addressIssue, findWritable, inputIssue, type TagName, type Target, tagIssue } from './target.ts'

/**
 * The corrections: each checks its whole request and then does all of it or nothing (of one historian; should one of
 * several fail, `errors` say what became of each one's part). The outcomes are those of `writePoints`.
 */

/** The answer to delete/points and metadata/delete: points removed by address, empty unless all was done. */
export type DeleteBody = ErrorBody & { readonly deleted: Readonly<Record<string, number>> }

/** The answer to metadata/rename: new addresses by old ones, empty unless all was done. */
export type RenameBody = ErrorBody & { readonly renamed: Readonly<Record<string, string>> }

/** `message` of a correction that only counted. */
const DRY_RUN = 'Dry run: nothing was changed'

// ---- POST /historian/delete/points ----

interface RangeEntry {
  readonly historian: Historian
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

  const targets = Object.keys(ranges).map((address) => findTarget(address, 'deletePoints', call))
  const existence = await findMissing(namesByHistorian(targets.filter(isFound)), context)
  const issues = new IssueList()
  const rangesContext = { ...clock, issues, warnings, breather: new Breather(context.signal) }
  const entries: RangeEntry[] = []
  const deleted = noEntries<number>()
  for (const target of targets) {
    addTargetIssue(target, existence.missing, issues)
    if (target.kind === 'nameless') continue
    const { name } = target
    deleted[name.address] = 0
    for (const range of await readRanges(ranges[name.address], name, rangesContext)) {
      if (target.kind === 'found') entries.push({ historian: target.historian, name, range })
    }
  }
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return withDeleted(wrong, noEntries())

  const steps = Array.from(groupByHistorian(entries), ([historian, group]) => ({
    historian,
    run: async (stepContext: CallContext) => {
      const counts = await historian.deletePoints!(
        group.map((entry) => entry.range),
        dryRun,
        stepContext,
      )
      group.forEach(({ name }, index) => {
        deleted[name.address]! += counts[index]!
      })
    },
  }))
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All points deleted!', warnings, context)
  return withDeleted(result, deleted)
}

interface RangesContext {
  readonly now: Instant
  readonly zone: TimeZone
  readonly issues: IssueList
  readonly warnings: Warnings
  readonly breather: Breather
}

async function readRanges(
  input: unknown,
  name: TagName,
  context: RangesContext,
): Promise<readonly TagRange[]> {
  if (!Array.isArray(input)) {
    context.issues.add(() => inputIssue('INVALID_RANGES', input, name))
    return []
  }
  const ranges: TagRange[] = []
  for (let index = 0; index < input.length; index++) {
    const range = readRange(input[index], index, name, context)
    if (range !== null) ranges.push(range)
    if (index % RANGES_BETWEEN_LOOKS === 0 && context.breather.isDue) await context.breather.rest()
  }
  return ranges
}

const RANGES_BETWEEN_LOOKS = 500

function readRange(range: unknown, index: number, name: TagName, context: RangesContext): TagRange | null {
  const { issues } = context
  if (!isObject(range)) {
    issues.add(() => inputIssue('INVALID_RANGE', range, name, index))
    return null
  }
  context.warnings.checkFields(range, ['from', 'to'], 'a range')
  const from = parseTime(range.from, context)
  const to = parseTime(range.to, context)
  if (from === null) issues.add(() => inputIssue('INVALID_TIMESTAMP', range.from, name, index))
  if (to === null) issues.add(() => inputIssue('INVALID_TIMESTAMP', range.to, name, index))
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
  // A tag that is named twice is deleted once.
  const addresses = [...new Set(readTags(fields))]

  const targets = addresses.map((address) => findTarget(address, 'deleteTags', call))
  const found = targets.filter(isFound)
  const existence = await findMissing(namesByHistorian(found), context)
  const issues = new IssueList()
  for (const target of targets) addTargetIssue(target, existence.missing, issues)
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return withDeleted(wrong, noEntries())

  const deleted = noEntries<number>()
  const steps = Array.from(groupByHistorian(found), ([historian, group]) => ({
    historian,
    run: async (stepContext: CallContext) => {
      const counts = await historian.deleteTags!(
        group.map((target) => target.name.tag),
        dryRun,
        stepContext,
      )
      group.forEach(({ name }, index) => {
        deleted[name.address] = counts[index]!
      })
    },
  }))
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All tags deleted!', warnings, context)
  return withDeleted(result, deleted)
}

// ---- POST /historian/metadata/rename ----

interface RenameEntry {
  readonly historian: Historian
  readonly from: TagName
  readonly to: TagName
}

/**
 * Renames tags inside their historians, all of a historian's at once: names may be swapped or handed on in a chain. A new
 * name that is taken, and not itself renamed away, is an issue.
 */
export async function renameTags(body: unknown, call: WriteCall): Promise<Result<RenameBody>> {
  return answer(call, (context) => runRenameTags(body, call, context), refusalWith({ renamed: noEntries() }))
}

async function runRenameTags(
  body: unknown,
  call: WriteCall,
  context: CallContext,
): Promise<Result<RenameBody>> {
  const warnings = new Warnings()
  const fields = readBody(body, ['renames', 'dryRun'], warnings)
  const dryRun = readFlag(fields, 'dryRun')
  const renames = readObject(fields, 'renames', 'an object of new addresses by old ones')

  const targets = Object.keys(renames).map((address) => findTarget(address, 'renameTags', call))
  const entries: RenameEntry[] = []
  const newNames = new Map<TagName, TagName | Issue>()
  for (const target of targets) {
    if (target.kind === 'nameless') continue
    const to = readNewName(renames[target.name.address], target.name)
    newNames.set(target.name, to)
    if (target.kind === 'found' && !isIssue(to)) {
      entries.push({ historian: target.historian, from: target.name, to })
    }
  }
  const existence = await findMissing(
    namesByHistorian([
      ...targets.filter(isFound),
      ...entries.map(({ historian, to }) => ({ historian, name: to })),
    ]),
    context,
  )
  const issues = new IssueList()
  const taken = new Set<string>()
  for (const target of targets) {
    addTargetIssue(target, existence.missing, issues)
    if (target.kind === 'nameless') continue
    const { name } = target
    const to = newNames.get(name)!
    if (isIssue(to)) {
      issues.add(() => to)
      continue
    }
    if (taken.has(to.address)) issues.add(() => newNameIssue('RENAME_TWICE', name, to.address))
    else if (target.kind === 'found' && !existence.missing.has(to) && !Object.hasOwn(renames, to.address)) {
      issues.add(() => issue('TAG_EXISTS', { address: to.address }, { tag: name.address, input: to.address }))
    }
    taken.add(to.address)
  }
  const wrong = checkFailed(issues, existence.failures, warnings)
  if (wrong !== null) return withRenamed(wrong, [])

  const steps = Array.from(groupByHistorian(entries), ([historian, group]) => {
    const pairs = group.map(({ from, to }): TagRename => ({ from: from.tag, to: to.tag }))
    return {
      historian,
      run: (stepContext: CallContext) => historian.renameTags!(pairs, dryRun, stepContext),
    }
  })
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All tags renamed!', warnings, context)
  return withRenamed(result, entries)
}

/** The new name of a tag, or what is wrong with it. */
function readNewName(input: unknown, old: TagName): TagName | Issue {
  const parsed = typeof input === 'string' ? parseAddress(input) : null
  if (parsed === null) return { ...addressIssue(input), tag: old.address }
  if (parsed.historian !== old.historian) {
    return newNameIssue('RENAME_OTHER_HISTORIAN', old, showInput(input))
  }
  return { address: input as string, ...parsed }
}

function newNameIssue(
  code: 'RENAME_OTHER_HISTORIAN' | 'RENAME_TWICE',
  { address }: TagName,
  to: string,
): Issue {
  return issue(code, { address, to }, { tag: address, input: to })
}

function isIssue(name: TagName | Issue): name is Issue {
  return 'code' in name
}

// ---- what they share ----

type Found = Target & { readonly kind: 'found' }

function isFound(target: Target): target is Found {
  return target.kind === 'found'
}

const OPERATIONS = {
  deletePoints: 'delete points',
  deleteTags: 'delete tags',
  renameTags: 'rename tags',
} as const

/** As findWritable; a historian that takes writes but cannot do this correction is an issue too. */
function findTarget(address: unknown, operation: keyof typeof OPERATIONS, call: WriteCall): Target {
  const target = findWritable(address, call.historians)
  if (target.kind !== 'found') return target
  const { historian, name } = target
  if (historian.capabilities[operation] && historian[operation] !== undefined) return target
  const values = { historian: historian.name, operation: OPERATIONS[operation] }
  return { kind: 'unusable', name, issue: issue('NOT_SUPPORTED', values, { tag: name.address }) }
}

function addTargetIssue(target: Target, missing: ReadonlySet<TagName>, issues: IssueList): void {
  if (target.kind !== 'found') issues.add(() => target.issue)
  else if (missing.has(target.name)) issues.add(() => tagIssue('TAG_NOT_FOUND', target.name))
}

function namesByHistorian(
  items: readonly { readonly historian: Historian; readonly name: TagName }[],
): ReadonlyMap<Historian, readonly TagName[]> {
  const groups = groupByHistorian(items)
  return new Map(Array.from(groups, ([historian, group]) => [historian, group.map((item) => item.name)]))
}

async function applyCorrection(
  steps: readonly Step[],
  message: string,
  warnings: Warnings,
  context: CallContext,
): Promise<Result<ErrorBody>> {
  const applied: Applied = await applyAll(steps, CHANGE_CODES, context)
  switch (applied.kind) {
    case 'done':
      return doneAnswer(message, warnings)
    case 'rejected':
      return issuesAnswer([issueOf(applied.error)], warnings)
    case 'failed':
      return failedAnswer(applied, 'The changes could not all be made', warnings)
  }
}

/** Counts are given only for what was done as a whole. */
function withDeleted(result: Result<ErrorBody>, deleted: Record<string, number>): Result<DeleteBody> {
  const { message, ...rest } = result.body
  return { ...result, body: { message, deleted: result.outcome === 'done' ? deleted : noEntries(), ...rest } }
}

function withRenamed(result: Result<ErrorBody>, entries: readonly RenameEntry[]): Result<RenameBody> {
  const renamed = noEntries<string>()
  if (result.outcome === 'done') for (const { from, to } of entries) renamed[from.address] = to.address
  const { message, ...rest } = result.body
  return { ...result, body: { message, renamed, ...rest } }
}

/** By address, without a prototype: an address is any text. */
function noEntries<Value>(): Record<string, Value> {
  return Object.create(null)
}
