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
  // A bare number would be milliseconds as a duration and an epoch as a time: nobody means either.
  const duration = /^\d+$/.test(text) ? null : parseDuration(text)
  const at = duration === null ? parseTime(text, { now, zone }) : addDuration(now, duration, zone)
  if (at === null)
    throw usageError(`--expires ${text}: a duration such as 90d or a time such as 2027-01-01 is expected`)
  if (at <= now) throw usageError(`--expires ${text}: that is in the past`)
  return at
}
