import { type ErrorBody, errorBody } from '../errors/error-body.ts'
import { invalidField, readBody, readFlag, readObject } from '../errors/fields.ts'
import type { Result } from '../errors/outcome.ts'
import { type Issue, issue, issueOf, showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { formatAddress, parseAddress } from '../grammar/address.ts'
import type { CallContext, TagRename } from '../historian/contract.ts'
import { ALIASES, type AliasUse, type Followed } from '../historian/visible-aliases.ts'
import { fieldNames } from '../json/field-names.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach, mapEach } from '../scheduling/each.ts'
import { WideMap } from '../scheduling/wide-map.ts'
import { answer, refusalWith, type WriteCall } from './call.ts'
import { checkFailed } from './check.ts'
import { addTargetIssue, applyCorrection, DRY_RUN, findTarget, noEntries } from './correction-steps.ts'
import { ByHistorian, findMissing } from './existence.ts'
import { IssueList } from './issues.ts'
import { checkTags, DEFAULT_WRITE_LIMITS } from './limits.ts'
import { type Members, membersOf } from './members.ts'
import { addressIssue, type TagName, type Target } from './target.ts'

/** The answer to metadata/rename: new addresses by old ones, empty unless all was done. */
export type RenameBody = ErrorBody & {
  readonly renamed: Members<string>
  /** What aliases refer to now, by their names; left out where none followed. */
  readonly aliases?: Members<string>
}

/**
 * What becomes of the aliases that name a tag which is renamed: they name the new one, the tag is not renamed, or they
 * are left as they are and name no tag any more.
 */
const ALIAS_RULES = ['follow', 'refuse', 'break'] as const
type AliasRule = (typeof ALIAS_RULES)[number]

/** So many aliases of a tag are named when it is not renamed because of them. */
const MOST_NAMED = 10

interface RenameEntry {
  readonly from: TagName
  readonly to: TagName
}

/**
 * Renames tags inside their historians, all of a historian's at once: names may be swapped or handed on in a chain. A
 * new name that is taken, and not itself renamed away, is an issue, and so is a tag that aliases name, unless `aliases`
 * says what becomes of them.
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
  const fields = readBody(body, ['renames', 'dryRun', 'aliases'], warnings)
  const dryRun = readFlag(fields, 'dryRun')
  const rule = readAliasRule(fields.aliases ?? null)
  const renames = readObject(fields, 'renames', 'an object of new addresses by old ones')

  const addresses = fieldNames(renames)
  checkTags(addresses.length, call.limits ?? DEFAULT_WRITE_LIMITS)
  const scheduler = new CooperativeScheduler(context.signal)
  const targets: Target[] = []
  const entries: RenameEntry[] = []
  const entriesOf = new ByHistorian<RenameEntry>()
  const asked = new ByHistorian<TagName>()
  const moved = new Map<string, string>()
  /** Of each of the targets that are well formed, in their order. */
  const newNames: (TagName | Issue)[] = []
  await forEach(addresses, scheduler, (address) => {
    const target = findTarget(address, 'renameTags', call)
    targets.push(target)
    if (target.kind === 'malformed') return
    const from = target.name
    const to = readNewName(renames[from.address], from)
    newNames.push(to)
    if (target.kind !== 'found') return
    asked.add(target.historian, from)
    if (isIssue(to)) return
    asked.add(target.historian, to)
    const entry = { from, to }
    entries.push(entry)
    entriesOf.add(target.historian, entry)
    if (from.address !== to.address) moved.set(from.address, to.address)
  })
  const existence = await findMissing(asked, context)
  const aliases = moved.size === 0 ? null : call.historians.aliases
  const uses = rule === 'refuse' ? ((await aliases?.findUses(moved, MOST_NAMED + 1, context)) ?? []) : []
  const usesByTag = Map.groupBy(uses, (use) => use.tag)
  // Aliases that cannot be reached, or could not follow, are an error before anything is renamed.
  const wouldFollow = rule === 'follow' ? ((await aliases?.follow(moved, true, context)) ?? []) : []
  const issues = new IssueList()
  const taken = new WideMap<number>()
  let next = 0
  await forEach(targets, scheduler, (target) => {
    addTargetIssue(target, existence.missing, issues)
    if (target.kind === 'malformed') return
    const { name } = target
    const to = newNames[next++]!
    if (isIssue(to)) {
      issues.add(() => to)
      return
    }
    if (taken.get(to.address) !== undefined) issues.add(() => newNameIssue('RENAME_TWICE', name, to.address))
    else if (target.kind === 'found' && !existence.missing.has(to) && !Object.hasOwn(renames, to.address)) {
      issues.add(() => issue('TAG_EXISTS', { address: to.address }, { tag: name.address, input: to.address }))
    }
    taken.set(to.address, 1)
    const users = usesByTag.get(name.address)
    if (users !== undefined) issues.add(() => usedIssue(name, to.address, users))
  })
  const failures = [...existence.failures, ...addAliasIssues(wouldFollow, issues)]
  const wrong = checkFailed(issues, failures, warnings)
  if (wrong !== null) return withRenamed(wrong, [])

  const steps = Array.from(entriesOf, ([historian, group]) => ({
    historian,
    run: async (stepContext: CallContext) => {
      const pairs = await mapEach(
        group,
        scheduler,
        ({ from, to }): TagRename => ({ from: from.tag, to: to.tag }),
      )
      await historian.renameTags!(pairs, dryRun, stepContext)
    },
  }))
  const result = await applyCorrection(steps, dryRun ? DRY_RUN : 'All tags renamed!', warnings, context)
  const renamed = await withRenamed(result, entries)
  if (result.outcome !== 'done' || aliases === null || wouldFollow.length === 0) return renamed
  if (dryRun) return withFollowed(renamed, wouldFollow, warnings)
  // What was renamed cannot be taken back, so that the deadline of the call does not count any more.
  const followed = await aliases.follow(moved, false, { signal: new AbortController().signal })
  return withFollowed(renamed, followed, warnings)
}

function readAliasRule(input: unknown): AliasRule {
  const rule = input === null ? 'refuse' : ALIAS_RULES.find((candidate) => candidate === input)
  if (rule !== undefined) return rule
  throw invalidField('aliases', input, 'follow, refuse or break')
}

/** The issue of a tag that aliases name. */
function usedIssue({ address }: TagName, to: string, uses: readonly AliasUse[]): Issue {
  const named = uses.flatMap(({ alias }) => (alias === null ? [] : [formatAddress(ALIASES, alias)]))
  const shown = named.slice(0, MOST_NAMED)
  if (named.length > shown.length) shown.push('other aliases')
  if (named.length < uses.length) shown.push('aliases that this key does not see')
  const users = shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
  return issue('RENAME_ALIASES', { address, to, users }, { tag: address, input: to })
}

/**
 * Makes an issue of each alias that could not follow, as its calculation would become too long.
 * @returns the errors that do not say anything against the request: the store of aliases cannot be read
 */
function addAliasIssues(wouldFollow: readonly Followed[], issues: IssueList): readonly TidemarkError[] {
  const failures: TidemarkError[] = []
  for (const { alias, outcome } of wouldFollow) {
    if (!(outcome instanceof TidemarkError)) continue
    if (outcome.kind === 'invalid' || outcome.kind === 'limit') issues.add(() => aliasIssue(alias, outcome))
    else failures.push(outcome)
  }
  return failures
}

/** The issue of an alias that could not follow. What an alias refers to is not shown to a key that does not see it. */
function aliasIssue(alias: string | null, { message }: TidemarkError): Issue {
  if (alias !== null) {
    const address = formatAddress(ALIASES, alias)
    return issue('RENAME_ALIAS_INVALID', { alias: address, reason: message }, { tag: address })
  }
  const hidden = 'an alias that this key does not see'
  return issue('RENAME_ALIAS_INVALID', { alias: hidden, reason: 'its calculation would be invalid' })
}

/** The answer with what became of the aliases. Aliases that could not be changed make it a partial success. */
function withFollowed(
  result: Result<RenameBody>,
  followed: readonly Followed[],
  warnings: Warnings,
): Result<RenameBody> {
  const aliases = new Map<string, string>()
  const failures: TidemarkError[] = []
  for (const { alias, outcome } of followed) {
    if (outcome instanceof TidemarkError) failures.push(outcome)
    else if (alias !== null) aliases.set(alias, outcome)
  }
  const { message, renamed, ...rest } = result.body
  if (failures.length === 0)
    return { ...result, body: { message, renamed, aliases: membersOf(aliases), ...rest } }
  const issues = new IssueList()
  for (const failure of failures) issues.add(() => issueOf(failure))
  const partly = 'The tags are renamed, but not all of their aliases could be changed'
  return {
    outcome: 'unavailable',
    body: { ...errorBody(partly, issues.list(), warnings), renamed, aliases: membersOf(aliases) },
    failures,
  }
}

/** The new name of a tag, or its issue. */
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

async function withRenamed(
  result: Result<ErrorBody>,
  entries: readonly RenameEntry[],
): Promise<Result<RenameBody>> {
  const renamed = new Map<string, string>()
  if (result.outcome === 'done') {
    // What was renamed is said, also when the deadline passes now.
    const scheduler = new CooperativeScheduler(new AbortController().signal)
    await forEach(entries, scheduler, ({ from, to }) => renamed.set(from.address, to.address))
  }
  const { message, ...rest } = result.body
  return { ...result, body: { message, renamed: membersOf(renamed), ...rest } }
}
