import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'

/** Values by index, from random numbers in [0, 1): every way in which values are written. */
type Values = (index: number, random: () => number) => number

const values = fc.constantFrom<Values>(
  () => 4.2,
  (i) => Math.floor(i / 40),
  (i) => Math.sin(i / 50),
  (i, random) => Math.round(1_000 * Math.sin(i / 90) + 9 * random()) / 1_000,
  (_, random) => Math.round(random() * 100_000) / 1_000,
  (_, random) => (random() < 0.03 ? random() : Math.round(random() * 1e4) / 100),
  (i, random) => Math.round(random() * (i % 7 === 0 ? 2 ** 50 : 300)),
  (_, random) => [0, -0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 0.1][Math.floor(random() * 6)]!,
  (_, random) => random(),
)

/**
 * Up to `most` points, at least one, in time order: regular ones, jitter, gaps; all good, some BAD, long runs of BAD.
 */
export function somePoints(most: number): fc.Arbitrary<PointColumns> {
  return fc
    .record({
      start: fc.integer({ min: -8_520_336_000_000_000, max: 0 }),
      step: fc.constantFrom(1, 7, 1_000_000, 3_600_000_000),
      jitter: fc.constantFrom(0, 0, 1, 1_000_000),
      gaps: fc.constantFrom(0, 0, 0, 1_000, 86_400_000_000),
      values,
      count: fc.noBias(fc.integer({ min: 1, max: most })),
      bad: fc.constantFrom(0, 0, 0.02, 0.6, 1),
      badRuns: fc.constantFrom(0, 0, 1_000),
      numbers: fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
    })
    .map((shape) => {
      const random = () => shape.numbers.next().value!
      const points = makeColumns(shape.count)
      let time = shape.start
      let badUntil = -1
      for (let i = 0; i < shape.count; i++) {
        points.times[i] = time
        points.values[i] = shape.values(i, random)
        if (shape.badRuns > 0 && i > badUntil && random() < 0.002) badUntil = i + random() * shape.badRuns
        points.statuses[i] = i < badUntil || random() < shape.bad ? 1 : 0
        time += shape.step + (shape.jitter === 0 ? 0 : Math.floor(random() * shape.jitter))
        if (shape.gaps > 0 && random() < 0.02) time += Math.floor(random() * shape.gaps)
      }
      return points
    })
}

/** Ascending, distinct instants at, beside, between and beyond points. */
export function someTimes(
  points: PointColumns,
  picks: readonly (readonly [at: number, aside: number])[],
): Float64Array {
  const { times } = points
  const last = times.length - 1
  const span = Math.max(1_000, times[last]! - times[0]!)
  const all = picks.map(([at, aside]) => {
    if (Math.abs(aside) <= 3) return times[at % times.length]! + aside
    return Math.floor(times[0]! + ((aside - 4) / 100) * span * 1.2 - span * 0.1)
  })
  return Float64Array.from(new Set(all)).sort()
}

/** For `someTimes`. */
export const picks = fc.array(fc.tuple(fc.nat(), fc.integer({ min: -3, max: 104 })), {
  minLength: 1,
  maxLength: 120,
})
