import { addDuration, parseDuration } from '../time/duration.ts'
import type { Instant } from '../time/instant.ts'
import { parseTime } from '../time/parse.ts'
import { systemTimeZone } from '../time/zone.ts'
import { presentInstant } from './clock.ts'
import { usageError } from './exit.ts'

/**
 * The instant that `30d`, `P1Y` or `2027-01-01` means for something that ends then: a duration counts from now.
 * @throws CommandError for anything else, and for what is past
 */
export function parseExpiry(text: string): Instant {
  const zone = systemTimeZone()
  const now = presentInstant()
  // A bare number would be milliseconds as a duration and an epoch as a time: no user means either.
  const duration = /^\d+$/.test(text) ? null : parseDuration(text)
  const at = duration === null ? parseTime(text, { now, zone }) : addDuration(now, duration, zone)
  if (at === null)
    throw usageError(`--expires ${text}: a duration such as 90d or a time such as 2027-01-01 is expected`)
  if (at <= now) throw usageError(`--expires ${text}: that is in the past`)
  return at
}

/**
 * The instant that a grace such as `1d`, `PT1H` or `0s` from now ends at.
 * @throws CommandError for anything that is no duration
 */
export function parseGrace(text: string): Instant {
  const now = presentInstant()
  if (/^0[a-z]*$/i.test(text.trim())) return now
  const duration = /^\d+$/.test(text) ? null : parseDuration(text)
  if (duration === null) throw usageError(`--grace ${text}: a duration such as 1d or 12h is expected, or 0s`)
  return addDuration(now, duration, systemTimeZone())
}
