import type { Issue } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { Abortable } from '../historian/deadline.ts'
import type { HistorianView } from '../historian/registry.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import type { CallLimits } from './limit.ts'
import type { Request } from './requests.ts'

/** What a multi call is made in, given by whoever received it. */
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

/** A call whose body is understood as far as it concerns the call as a whole. */
export interface CallHead {
  readonly now: Instant
  readonly zone: TimeZone
  readonly format: 'points' | 'columns'
  readonly explain: boolean
  /** Labels with their requests, not looked into yet. */
  readonly requests: readonly (readonly [label: string, request: unknown])[]
  readonly warnings: Warnings
}

/** A call whose labels are read; those that are wrong carry their issue. */
export interface ParsedCall extends CallHead {
  readonly labels: readonly ParsedLabel[]
}

export type ParsedLabel = WrongLabel | UnderstoodLabel

export interface WrongLabel {
  readonly kind: 'wrong'
  readonly label: string
  readonly issue: Issue
  /** The error behind the issue, for the log; never for the client. */
  readonly cause: unknown
}

export interface UnderstoodLabel {
  readonly kind: 'understood'
  readonly label: string
  /** As the client sent it. */
  readonly address: string
  readonly tree: TagTree
  readonly request: Request
  /**
   * `now` and zone of this label: the call's, or those of the cursor that it goes on from. Relative parts of the tag
   * and the end of the last point's hold follow them.
   */
  readonly now: Instant
  readonly zone: TimeZone
}
