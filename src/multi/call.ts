import { type Issue, issueOf } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { Abortable } from '../historian/deadline.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import type { CallLimits } from './limit.ts'
import type { Request } from './requests/request.ts'

/** Context of a multi call, given by the caller (the route or the command). */
export interface MultiCall {
  /** The historians that the caller's key may see. */
  readonly historians: HistorianView
  readonly limits: CallLimits
  /** Zone of calls that name none. */
  readonly defaultZone: TimeZone
  /** Historian of a bare tag name inside a calculation. */
  readonly defaultHistorian: string | null
  /** Wall-clock time at arrival; `now` of calls that name none. */
  readonly now: Instant
  /** Aborted when the client goes away. */
  readonly signal: Abortable
}

/** A call whose body is parsed as far as it concerns the call as a whole. */
export interface CallHead {
  readonly now: Instant
  readonly zone: TimeZone
  readonly format: 'points' | 'columns'
  readonly explain: boolean
  /** Names of the labels. */
  readonly names: readonly string[]
  readonly warnings: Warnings
}

/** A label that is parsed; an invalid one carries its issue. */
export type CallLabel = InvalidLabel | ParsedLabel

export interface InvalidLabel {
  readonly kind: 'invalid'
  readonly label: string
  readonly issue: Issue
  /** The error behind the issue, for the log; never for the client. */
  readonly cause: unknown
}

export interface ParsedLabel {
  readonly kind: 'parsed'
  readonly label: string
  /** As the client sent it. */
  readonly address: string
  readonly tree: TagTree
  /** The tag of `request.otherTag`; `null` without one. */
  readonly otherTree: TagTree | null
  readonly request: Request
  /**
   * `now` and zone of this label: the call's, or those of the cursor that it goes on from. Relative parts of the tag
   * and the end of the last point's hold follow them.
   */
  readonly now: Instant
  readonly zone: TimeZone
  /** From the details: how long good points of the label's stored tags are good for. */
  readonly maxGapUs?: number
}

/** A label that fails, with its issue; what was wrong in it is only said where it is not all of its tag. */
export function failedLabel(
  { label, address }: Pick<ParsedLabel, 'label' | 'address'>,
  cause: unknown,
): InvalidLabel {
  const { input, ...rest } = issueOf(cause, { label, tag: address })
  const issue = input === undefined || input === address ? rest : { ...rest, input }
  return { kind: 'invalid', label, issue, cause }
}

/** The tags that a label is about. */
export function treesOf({ tree, otherTree }: Pick<ParsedLabel, 'tree' | 'otherTree'>): readonly TagTree[] {
  return otherTree === null ? [tree] : [tree, otherTree]
}
