import { type Instant, instantFromUs } from '../../time/instant.ts'
import { type TimeZone, UTC } from '../../time/zone.ts'
import { ArraySource } from '../array-source.fixture.ts'
import type { Series, SeriesContext } from '../series.ts'
import { virtualSeries } from '../virtual.ts'

/** 2026-01-15T12:00:00Z. */
export const NOW = instantFromUs(1_768_478_400_000_000)

/** What a virtual tag is made in when nothing is stored; a page of 7 points makes many pages of few points. */
export function emptyContext({
  zone = UTC,
  now = NOW,
}: {
  zone?: TimeZone
  now?: Instant
} = {}): SeriesContext {
  const range = { from: now, to: now }
  return { source: new ArraySource(new Map()), now, zone, range, pagePoints: 7 }
}

/** The series of a virtual tag by its address. */
export function virtualTag(address: string, context: SeriesContext = emptyContext()): Series {
  const slash = address.indexOf('/')
  return virtualSeries(address.slice(0, slash), address.slice(slash + 1), context)
}
