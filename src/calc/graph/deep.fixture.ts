import { parseTag } from '../../grammar/parser.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from './array-source.fixture.ts'
import { seriesOf, type TestSeries } from './series.fixture.ts'

export const MINUTE = 60_000_000

export const at = (minutes: number): Instant => instantFromUs(minutes * MINUTE)

/** The request's range of deep calculations. */
export const range = { from: at(600), to: at(660) }

/** A point each minute, of which every seventh is BAD. */
export const rows: readonly Row[] = Array.from(
  { length: 700 },
  (_, i): Row => [i * MINUTE, (i * 37) % 101, i % 7 === 6],
)

/** The tag A with some rows. */
export function sourceOf(rows: readonly Row[]): ArraySource {
  return new ArraySource(new Map([['A', columnsOf(rows)]]))
}

/** A leaf with so many levels of a function around it, at minute 700. */
export function deepSeries(
  { levels, leaf, wrap }: { levels: number; leaf: string; wrap: (inner: string) => string },
  source: ArraySource,
  maxEvaluated?: number,
): TestSeries {
  let text = leaf
  for (let i = 0; i < levels; i++) text = wrap(text)
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: at(700), zone: UTC }
  const context = {
    source,
    now: at(700),
    zone: UTC,
    range,
    ...(maxEvaluated !== undefined && { maxEvaluated }),
  }
  return seriesOf(parseTag(`calc/${text}`, options), context, ({ name }) => storedTag(name, false, 'none'))
}
