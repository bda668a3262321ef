import fc from 'fast-check'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from './instant.ts'
import { parseTimeZone, type TimeZone } from './zone.ts'

/** Helpers of the tests beside the time module: instants and zones by Temporal, which is their reference. */

/** An instant by Temporal, from its text with `Z`, an offset or `[Zone/Id]`. */
export function instant(text: string): Instant {
  const moment = text.includes('[')
    ? Temporal.ZonedDateTime.from(text).toInstant()
    : Temporal.Instant.from(text)
  return instantFromUs(Number(moment.epochNanoseconds / 1000n))
}

/** A zone that must exist. */
export function zone(id: string): TimeZone {
  const found = parseTimeZone(id)
  if (found === null) throw new Error(`no zone ${id}`)
  return found
}

/** An instant as Temporal has it in a zone. */
export function zoned(at: number, id: string): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(BigInt(at) * 1000n, id)
}

/** What Temporal made, as an instant. */
export function instantOf(moment: Temporal.ZonedDateTime): Instant {
  return instantFromUs(Number(moment.epochNanoseconds / 1000n))
}

/** `2026-03-29T01:00:00.000Z` or null, so that a failing case can be read. */
export function shown(at: number | null): string | null {
  return at === null ? null : Temporal.Instant.fromEpochNanoseconds(BigInt(at) * 1000n).toString()
}

/** Zones with all kinds of odd habits. */
export const ZONE_IDS = [
  'UTC',
  'Europe/Oslo',
  'Europe/London',
  'Europe/Dublin',
  'America/New_York',
  'America/St_Johns',
  'America/Toronto',
  'America/Sao_Paulo',
  'America/Santiago',
  'America/Juneau',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/Monrovia',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Gaza',
  'Asia/Manila',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Antarctica/Troll',
  '+05:45',
  '-03:30',
] as const

/** Any accepted instant. */
export const anyInstant: fc.Arbitrary<Instant> = fc
  .oneof(
    fc.maxSafeInteger().filter((us) => us >= MIN_INSTANT && us < END_INSTANT),
    // Most clock changes lie in the twentieth century and later.
    fc.integer({ min: -2_000_000_000, max: 4_000_000_000 }).map((seconds) => seconds * 1_000_000 + 123_456),
  )
  .map(instantFromUs)

export const anyZoneId: fc.Arbitrary<string> = fc.constantFrom(...ZONE_IDS)
