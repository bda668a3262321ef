import { addDuration, type Duration } from '../../time/duration.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import { NO_WATERMARK } from './tag-watermarks.ts'

/** How long points are kept of the tags whose name matches; of several rules the first that matches counts. */
export interface RetentionRule {
  /** The whole name, with `*` for any text and `?` for one character, without regard to case. */
  readonly match: string
  /** Calendar steps are those of UTC. */
  readonly keep: Duration
}

/** Rules with the watermarks of those before them of the same pattern: of two alike the first one counted. */
export function carriedOver(rules: readonly RetentionRule[], before: RetentionState): RetentionState {
  const matches = rules.map(({ match }) => match)
  const known = new Map<string, number>()
  for (const [index, match] of before.matches.entries()) {
    if (!known.has(match)) known.set(match, before.watermarks[index]!)
  }
  return {
    clock: before.clock,
    matches,
    watermarks: matches.map((match) => known.get(match) ?? NO_WATERMARK),
  }
}

/**
 * The watermarks at a time: what is older than its rule keeps lies at or before them. None goes back.
 * @param before  of the same rules; `null` for none
 */
export function watermarksAt(
  rules: readonly RetentionRule[],
  before: RetentionState | null,
  nowUs: number,
): RetentionState {
  return {
    clock: nowUs,
    matches: before?.matches ?? rules.map(({ match }) => match),
    watermarks: rules.map(({ keep }, index) =>
      Math.max(before?.watermarks[index] ?? NO_WATERMARK, addDuration(instantFromUs(nowUs), keep, UTC, -1)),
    ),
  }
}

/** Whether a version has these rules, in this order. */
export function hasRules(rules: readonly RetentionRule[], { matches }: RetentionState): boolean {
  return matches.length === rules.length && rules.every(({ match }, index) => match === matches[index])
}
