import { CALL_LIMITS } from '../errors/limits.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'

/** The limits of a request that changes something (src/errors/limits.ts), each checked before anything is looked up. */
export interface WriteLimits {
  readonly tags: number
  readonly ranges: number
}

export const DEFAULT_WRITE_LIMITS: WriteLimits = {
  tags: CALL_LIMITS.tags.default,
  ranges: CALL_LIMITS.ranges.default,
}

/** @throws LIMIT_TAGS */
export function checkTags(count: number, { tags: limit }: WriteLimits): void {
  if (count > limit) throw new TidemarkError('LIMIT_TAGS', { limit })
}

/** @throws LIMIT_RANGES */
export function checkRanges(actual: number, { ranges: limit }: WriteLimits): void {
  if (actual > limit) throw new TidemarkError('LIMIT_RANGES', { limit, actual })
}
