/** What a historian reports of itself; `null` for what it does not know. */
export interface HistorianMeasures {
  /** Points that are in its journal and not yet in files of their own. */
  readonly journalPoints: number | null
  /** Microseconds since 1970; points that were deleted may count for a while. */
  readonly oldest: number | null
  readonly newest: number | null
  /** Changes may be that are so old and not archived, in seconds; `null` where nothing is archived. */
  readonly archiveLagSeconds: number | null
  /** `null` where all points are kept. */
  readonly retention: RetentionMeasures | null
}

/** What retention has done. */
export interface RetentionMeasures {
  /**
   * The latest watermark of all rules, in microseconds since 1970: up to it points are gone, of the tags of its rule.
   * `null` where none removed anything yet.
   */
  readonly watermark: number | null
  /** Why watermarks stand still: the clock jumped, or they cannot be moved; `null` while they move. */
  readonly paused: 'clock' | 'error' | null
  /** Since the historian was opened: files that were written anew, or went, as much of them was behind watermarks. */
  readonly trimmedFiles: number
  /** Points that these files had and those in their place have not. */
  readonly removedPoints: number
}
