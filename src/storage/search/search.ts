import type { TagRecord } from '../catalog/tag-record.ts'

/** Which tags are wanted. */
export interface Search {
  /** Whether a tag is wanted; `null` for all. */
  readonly matches: ((name: string, description: string | null) => boolean) | null
  /** Case-folded beginning that the name or the description of every match has; '' where none is known. */
  readonly foldedPrefix: string
  /**
   * The case-folded pattern, with `*` and `?`, of `matches`: what it can tell without asking; left out where none is
   * known.
   */
  readonly foldedPattern?: string
  /** Only names after this one. */
  readonly after: string | null
  readonly limit: number
}

/** Tags in the order of their names. */
export interface SearchPage {
  readonly tags: readonly TagRecord[]
  readonly more: boolean
}
