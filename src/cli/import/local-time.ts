import { type Instant, instantFromUs, US_PER_HOUR } from '../../time/instant.ts'
import { readWritten } from '../../time/parse.ts'
import type { TimeZone } from '../../time/zone.ts'

/** No clock is put back by more. */
const LONGEST_OVERLAP_US = 3 * US_PER_HOUR

/**
 * The instant of a row's time of the doubled hour of autumn: the second one where only that goes on in time.
 * @param text  as it was read
 * @param at    what it is read as: the first of both
 * @param last  time of the row before, of the same tag; `null` for the first one
 * @returns     `at` for every other time; `isUnclear` where neither goes on, so that the first one was taken
 */
export function inOrder(
  text: string,
  at: Instant,
  last: Instant | null,
  zone: TimeZone,
): { readonly at: Instant; readonly isUnclear: boolean } {
  if (last === null || at > last) return { at, isUnclear: false }
  const second = secondOccurrence(text, at, zone)
  if (second === null) return { at, isUnclear: false }
  return second > last ? { at: second, isUnclear: false } : { at, isUnclear: true }
}

/** When the clocks show the same time again; `null` when they do not, or the text has a zone of its own. */
function secondOccurrence(text: string, at: Instant, zone: TimeZone): Instant | null {
  const after = zone.offsetUsAt(at + LONGEST_OVERLAP_US)
  const gone = zone.offsetUsAt(at) - after
  if (gone <= 0) return null
  const second = instantFromUs(at + gone)
  if (zone.offsetUsAt(second) !== after) return null
  const written = readWritten(text.trim())
  return written?.hasTime === true && !written.isUtc && written.offsetUs === null && written.zone === null
    ? second
    : null
}
