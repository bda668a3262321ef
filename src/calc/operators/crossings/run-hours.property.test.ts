import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const SECOND_US = 1_000_000
/** An hour, all of it before `now`. */
const SPAN_S = 3600

const seconds = fc.uniqueArray(fc.nat(SPAN_S), { maxLength: 12 }).map((times) => times.sort((a, b) => a - b))

/** Points from the first second to the last. */
const levels = fc
  .tuple(seconds, fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 14, maxLength: 14 }))
  .map(([times, values]) => {
    const all = [...new Set([0, ...times, SPAN_S])].sort((a, b) => a - b)
    return all.map((time, i): Row => [time, values[i]!])
  })

interface Settings {
  readonly level: readonly Row[]
  readonly pump: readonly Row[]
  readonly limit: number
}

const settings: fc.Arbitrary<Settings> = fc.record({
  level: levels,
  pump: levels.map((rows) => rows.map(([time, value]): Row => [time, value > 0 ? 1 : 0])),
  limit: fc.integer({ min: -15, max: 15 }),
})

/** Where the level is at or above the limit, as spans of seconds on the real line. */
function spans(level: readonly Row[], limit: number): readonly (readonly [from: number, to: number])[] {
  return level.slice(1).flatMap(([time2, value2], i) => {
    const [time1, value1] = level[i]!
    const [first, last] = [value1 - limit, value2 - limit]
    if (first >= 0 && last >= 0) return [[time1, time2] as const]
    if (first < 0 && last < 0) return []
    const crossing = time1 + ((time2 - time1) * first) / (first - last)
    return first >= 0 ? [[time1, crossing] as const] : [[crossing, time2] as const]
  })
}

/** Integral of the stepped pump over spans; with the level as a factor where it is given. */
function pumped(
  pump: readonly Row[],
  over: readonly (readonly [number, number])[],
  factor: (time: number) => number,
): number {
  let sum = 0
  for (const [i, [start, value]] of pump.entries()) {
    const end = pump[i + 1]?.[0] ?? SPAN_S
    for (const [from, to] of over) {
      const [a, b] = [Math.max(from, start), Math.min(to, end)]
      // A line over a span is worth its value in the middle.
      if (a < b) sum += value * (b - a) * factor((a + b) / 2)
    }
  }
  return sum
}

async function integralOf(text: string, { level, pump }: Settings): Promise<number> {
  const rowsUs = (rows: readonly Row[]) => columnsOf(rows.map(([time, value]) => [time * SECOND_US, value]))
  const source = new ArraySource(
    new Map([
      ['LEVEL', rowsUs(level)],
      ['PUMP', rowsUs(pump)],
    ]),
  )
  const [from, to] = [instantFromUs(0), instantFromUs(SPAN_S * SECOND_US)]
  const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints: 3 }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
  const series = seriesOf(parseTag(`calc/${text}`, options), context, ({ name }) =>
    storedTag(name, name === 'PUMP', 'none'),
  )
  const { integrals } = await series.integrals(Float64Array.of(from), Float64Array.of(to))
  return integrals[0]! / SECOND_US
}

/** Each crossing is rounded to the nearest microsecond. */
const ROUNDING_S = 0.5 / SECOND_US

test('run hours by THRESHOLD are those of the lines, to half a microsecond for each crossing', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (one) => {
      const expected = spans(one.level, one.limit).reduce((sum, [from, to]) => sum + to - from, 0)
      const found = await integralOf(`THRESHOLD(h/LEVEL, ${one.limit}, 1, 0)`, one)
      const allowed = one.level.length * ROUNDING_S + 1e-9
      assert.ok(Math.abs(found - expected) <= allowed, `${found} s, not ${expected}`)
    }),
  )
})

test('run hours are exact when all crossings are at whole microseconds', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (one) => {
      const found = spans(one.level, one.limit)
      fc.pre(found.flat().every((time) => Math.abs(time * SECOND_US - Math.round(time * SECOND_US)) < 1e-4))
      const expected = found.reduce((sum, [from, to]) => sum + to - from, 0)
      const actual = await integralOf(`THRESHOLD(h/LEVEL, ${one.limit}, 1, 0)`, one)
      assert.ok(Math.abs(actual - expected) <= 1e-9, `${actual} s, not ${expected}`)
    }),
    { numRuns: 60 },
  )
})

test('the hours that a pump runs while a level is reached have no ramps', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (one) => {
      const expected = pumped(one.pump, spans(one.level, one.limit), () => 1)
      const found = await integralOf(`MUL(h/PUMP, THRESHOLD(h/LEVEL, ${one.limit}, 1, 0))`, one)
      const allowed = one.level.length * ROUNDING_S + 1e-9
      assert.ok(Math.abs(found - expected) <= allowed, `${found} s, not ${expected}`)
    }),
  )
})

test('a linear input times a stepped one is exact', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (one) => {
      const levelAt = (time: number): number => {
        const after = one.level.findIndex(([at]) => at >= time)
        const [time2, value2] = one.level[after]!
        const [time1, value1] = one.level[Math.max(0, after - 1)]!
        return time2 === time1 ? value2 : value1 + ((value2 - value1) * (time - time1)) / (time2 - time1)
      }
      const parts = one.level.slice(1).map(([to], i) => [one.level[i]![0], to] as const)
      const expected = pumped(one.pump, parts, levelAt)
      const found = await integralOf('MUL(h/PUMP, h/LEVEL)', one)
      assert.ok(Math.abs(found - expected) <= 1e-9 * 20 * SPAN_S, `${found}, not ${expected}`)
    }),
  )
})
