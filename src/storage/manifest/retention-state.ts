import { Damage } from '../damage.ts'

/**
 * Watermarks of a historian: the points of a tag at or before its watermark are gone from every read, but for the
 * newest of them and the newest good one. The rules of one moment, in the order in which they are looked at; a tag has
 * the watermark of the first one that matches its name. Immutable.
 */
export interface RetentionState {
  /** What time it was by the clock of retention, in microseconds since 1970: it never runs ahead of a steady clock. */
  readonly clock: number
  /** Patterns of tag names, with `*` and `?`. */
  readonly matches: readonly string[]
  /** Of each rule, in microseconds since 1970; -Infinity for one that has removed nothing yet. */
  readonly watermarks: readonly number[]
}

/** More rules are no configuration. */
export const MOST_RULES = 1_000

/** Reads what an entry of the manifest has; JSON has null for -Infinity. `null` where there is none. Throws Damage. */
export function retentionFromJson(json: unknown): RetentionState | null {
  if (json === undefined || json === null) return null
  const { clock, matches, watermarks } = json as Readonly<Record<string, unknown>>
  if (
    typeof clock !== 'number' ||
    !Array.isArray(matches) ||
    !Array.isArray(watermarks) ||
    matches.length !== watermarks.length ||
    matches.length > MOST_RULES ||
    !matches.every((match) => typeof match === 'string') ||
    !watermarks.every((time) => time === null || typeof time === 'number')
  ) {
    throw new Damage('the watermarks of retention in the manifest cannot be read')
  }
  return { clock, matches, watermarks: watermarks.map((time) => time ?? Number.NEGATIVE_INFINITY) }
}
