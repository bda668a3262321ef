import { type Instant, instantFromUs } from '../../time/instant.ts'
import { type TimeZone, UTC } from '../../time/zone.ts'
import { ArraySource } from '../graph/array-source.fixture.ts'
import { seriesOf, type TestContext, type TestSeries } from '../graph/series.fixture.ts'

/** 2026-01-15T12:00:00Z. */
export const NOW = instantFromUs(1_768_478_400_000_000)

/** What a virtual tag is made in when nothing is stored; a page of 7 points makes many pages of few points. */
export function emptyContext({
  zone = UTC,
  now = NOW,
}: {
  zone?: TimeZone
  now?: Instant
} = {}): TestContext {
  const range = { from: now, to: now }
  return { source: new ArraySource(new Map()), now, zone, range, pagePoints: 7 }
}

/** A virtual tag by its address. */
export function virtualTag(address: string, context: TestContext = emptyContext()): TestSeries {
  const slash = address.indexOf('/')
  const tree = {
    kind: 'tag',
    historian: address.slice(0, slash),
    name: address.slice(slash + 1),
    column: 1,
  } as const
  return seriesOf(tree, context, () => {
    throw new Error('nothing is stored')
  })
}
