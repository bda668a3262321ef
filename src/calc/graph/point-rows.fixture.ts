import fc from 'fast-check'
import { type Instant, US_PER_MINUTE } from '../../time/instant.ts'
import type { Row } from './array-source.fixture.ts'

/**
 * Up to 30 points of a tag within so many minutes before `now`, at whole minutes, one in seven of them BAD.
 * @param divisor  of values, which are whole numbers from -20 to 20 before
 */
export function pointRows(options: {
  readonly now: Instant
  readonly minutes: number
  readonly divisor: number
}): fc.Arbitrary<Row[]> {
  const { now, minutes, divisor } = options
  return fc
    .uniqueArray(fc.tuple(fc.nat(minutes), fc.integer({ min: -20, max: 20 }), fc.nat(6)), {
      minLength: 1,
      maxLength: 30,
      selector: ([minute]) => minute,
    })
    .map((all) =>
      all
        .sort(([a], [b]) => a - b)
        .map(
          ([minute, value, bad]): Row => [
            now - (minutes - minute) * US_PER_MINUTE,
            value / divisor,
            bad === 0,
          ],
        ),
    )
}
