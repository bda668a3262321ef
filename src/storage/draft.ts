import type { CatalogDraft } from './catalog.ts'
import type { Changes } from './changes.ts'
import type { Snapshot } from './snapshot.ts'

/** What a change works on. */
export interface Draft {
  readonly changes: Changes
  readonly catalog: CatalogDraft
  /** Of the newest state, which stays the newest as long as the change is being worked out. */
  readonly snapshot: Snapshot
  /** Adds a journal record that takes spans of points away, in memory too when the change is committed. */
  removeSpans(spans: readonly { readonly tag: number; readonly from: number; readonly to: number }[]): void
}

/** Which points must stand in blocks before a change is worked out. */
export interface Needs {
  /** Ids of tags; all of their points. */
  tags(): readonly number[]
  /** What becomes of the change when the blocks of one are damaged: it fails, or does without. */
  readonly damage: 'throw' | 'leave-out'
}
