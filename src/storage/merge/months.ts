/** Number of a calendar month (UTC), counted from the year 0. @param at  microseconds since 1970 */
export function monthOf(at: number): number {
  const date = new Date(Math.floor(at / 1_000))
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** When a month begins, in microseconds since 1970. */
export function monthStart(month: number): number {
  // Date.UTC takes the years 0 to 99 for those of the last century, which this does not.
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1) * 1_000
}
