import type { ErrorBody } from '../errors/error-body.ts'
import type { Result } from '../errors/outcome.ts'
import { issue, issueOf } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { CallContext } from '../historian/contract.ts'
import { type Applied, applyAll, CHANGE_CODES, type Step } from './apply.ts'
import type { WriteCall } from './call.ts'
import { doneAnswer, failedAnswer, issuesAnswer } from './check.ts'
import type { IssueList } from './issues.ts'
import { findWritable, type TagName, type Target, tagIssue } from './target.ts'

/** `message` of a correction that only counted. */
export const DRY_RUN = 'Dry run: nothing was changed'

const OPERATIONS = {
  deletePoints: 'delete points',
  deleteTags: 'delete tags',
  renameTags: 'rename tags',
} as const

/** As findWritable; a historian that takes writes but cannot do this correction is an issue too. */
export function findTarget(address: unknown, operation: keyof typeof OPERATIONS, call: WriteCall): Target {
  const target = findWritable(address, call.historians)
  if (target.kind !== 'found') return target
  const { historian, name } = target
  if (historian.capabilities[operation] && historian[operation] !== undefined) return target
  const values = { historian: historian.name, operation: OPERATIONS[operation] }
  return { kind: 'unusable', name, issue: issue('NOT_SUPPORTED', values, { tag: name.address }) }
}

export function addTargetIssue(target: Target, missing: ReadonlySet<TagName>, issues: IssueList): void {
  if (target.kind !== 'found') issues.add(() => target.issue)
  else if (missing.has(target.name)) issues.add(() => tagIssue('TAG_NOT_FOUND', target.name))
}

export async function applyCorrection(
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

/** By address, without a prototype: an address is any text. */
export function noEntries<Value>(): Record<string, Value> {
  return Object.create(null)
}
