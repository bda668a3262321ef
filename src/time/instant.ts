/**
 * An instant: whole microseconds since 1970-01-01T00:00:00Z, held in a double, which is exact up to 2^53 and so for
 * every instant that the interface accepts. Made only in src/time, so that nothing else can be taken for one.
 */
export type Instant = number & { readonly [instantBrand]: true }
declare const instantBrand: unique symbol

export const US_PER_MS = 1_000
export const US_PER_SECOND = 1_000_000
export const US_PER_MINUTE = 60_000_000
export const US_PER_HOUR = 3_600_000_000
/** 24 hours; a calendar day can be 23 or 25. */
export const US_PER_DAY = 86_400_000_000

/** 1700-01-01T00:00:00Z, the first instant accepted. */
export const MIN_INSTANT = -8_520_336_000_000_000 as Instant
/** 2200-01-01T00:00:00Z, the first instant no longer accepted. */
export const END_INSTANT = 7_258_118_400_000_000 as Instant

/** Takes a number of microseconds for an instant; for values that are known to be whole, such as stored timestamps. */
export function instantFromUs(us: number): Instant {
  return us as Instant
}

/** Whether a number of microseconds is an instant that the interface accepts. */
export function isAccepted(us: number): us is Instant {
  return us >= MIN_INSTANT && us < END_INSTANT && Number.isInteger(us)
}

/** The nearer end of the accepted range for what lies outside of it. @param us whole */
export function clampInstant(us: number): Instant {
  return Math.min(Math.max(us, MIN_INSTANT), END_INSTANT) as Instant
}
