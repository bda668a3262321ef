import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { END_INSTANT, instantFromUs, MIN_INSTANT, US_PER_SECOND } from '../../time/instant.ts'
import { estimateNow } from '../graph/estimate.ts'
import type { Need } from '../graph/need.ts'
import { MAX_GENERATED_POINTS } from '../leaves/generated.ts'
import { murmur3 } from './murmur3.ts'
import { parseSignalName } from './signal-name.ts'
import { virtualTag } from './virtual.fixture.ts'

describe('names of signals', () => {
  const good: [name: string, settings: object][] = [
    ['sin10-30@600-3600000', { kind: 'sin', amplitude: 10, level: -30, periodUs: 6e8, originUs: -3.6e9 }],
    ['cos.5@1', { kind: 'cos', amplitude: 0.5, level: 0, periodUs: 1e6, originUs: 0 }],
    ['SAW1e3+1E-3@0.0001+0.001', { kind: 'saw', amplitude: 1000, level: 0.001, periodUs: 100, originUs: 1 }],
    ['sq-2@1000000000', { kind: 'sq', amplitude: -2, periodUs: 1e15 }],
    ['sc1e-30@60', { kind: 'sc', amplitude: 1e-30, level: 0 }],
    ['rand5~42+20@100-1.5', { kind: 'rand', amplitude: 5, seed: 42, level: 20, originUs: -1500 }],
    ['rand5~4294967295@100', { seed: 2 ** 32 - 1 }],
    ['sin1@1.5000000', { periodUs: 1_500_000 }],
  ]
  for (const [name, settings] of good) {
    test(`${name} is read`, () => assert.partialDeepStrictEqual(parseSignalName(name), settings))
  }

  const bad: [name: string, reason: RegExp][] = [
    ['', /^one of sin, cos, saw, sq, sc, rand is expected first$/],
    ['sine10@600', /did you mean sin\?/],
    ['sin@600', /an amplitude such as 10 is expected after sin/],
    ['sin10', /@ and the period/],
    ['sin10@', /a period of/],
    ['sin10@0', /a period of/],
    ['sin10@0.00009', /a period of/],
    ['sin10@0.0001001', /at most 6 decimals/],
    ['sin10@1000000000.1', /a period of/],
    ['sin10@1e3', /nothing is expected after sin10@1$/],
    ['sin10@-5', /a period of/],
    ['sin10@600-0.0001', /an x offset/],
    ['sin10@600+9000000000001', /an x offset/],
    ['sin10@600x', /nothing is expected after sin10@600$/],
    ['sin10@600-1-1', /nothing is expected/],
    ['sin10 @600', /@ and the period/],
    ['sin10~1@600', /only rand takes a seed/],
    ['rand10~@600', /a whole number of 0 to 4294967295/],
    ['rand10~4294967296@600', /a whole number/],
    ['sin1e308+1e308@600', /too large/],
    ['sin1e999@600', /an amplitude/],
    [`sin${'9'.repeat(500)}@1`, /an amplitude/],
    ['__proto__', /one of sin/],
  ]
  for (const [name, reason] of bad) {
    test(`${name.slice(0, 40)} is refused with the reason`, () => {
      const read = parseSignalName(name)
      assert.ok('reason' in read, JSON.stringify(read))
      assert.match(read.reason, reason)
    })
  }

  test('the sentence says what is expected', () => {
    assert.throws(
      () => virtualTag('siggen/sin10'),
      (error) => {
        assert.ok(error instanceof TidemarkError)
        assert.equal(error.code, 'SIGNAL_NAME')
        assert.equal(
          error.message,
          'Tag siggen/sin10 does not exist: @ and the period in seconds are expected, as in sin10-30@600-3600000 for <function><amplitude>[+|-<y offset>]@<period in s>[+|-<x offset in ms>]',
        )
        return true
      },
    )
  })
})

test('a sine is exact where it is 0, 1 and -1, however far from the epoch', async () => {
  const series = virtualTag('siggen/sin1@4')
  const far = 7_200_000_000 * US_PER_SECOND
  for (const base of [0, far, -8_000_000_000 * US_PER_SECOND]) {
    const times = Float64Array.of(0, 1, 2, 3, 4).map((seconds) => base + seconds * US_PER_SECOND)
    assert.deepEqual(
      Array.from(await series.valuesAt(times), (value) => value + 0),
      [0, 1, 0, -1, 0],
    )
  }
})

test('the hash is MurmurHash3', () => {
  // Worked out by another implementation, checked against the published vectors.
  assert.deepEqual(
    [
      murmur3(0, 0, 0),
      murmur3(1, 0, 0),
      murmur3(-1, -1, 0),
      murmur3(0, 2 ** 21, 7),
      murmur3(0, -(2 ** 8), -1),
    ],
    [1_669_671_676, 1_392_991_556, 1_651_860_712, 1_696_670_104, 55_146_564],
  )
})

test('noise keeps to its amplitude, fills it evenly, and differs by seed', async () => {
  const times = Float64Array.from({ length: 20_000 }, (_, i) => i * 10_000)
  const noise = await virtualTag('siggen/rand3+10@1').valuesAt(times)
  assert.ok(noise.every((value) => value >= 7 && value <= 13))
  for (let part = 0; part < 6; part++) {
    const within = noise.filter((value) => value >= 7 + part && value < 8 + part).length
    assert.ok(Math.abs(within - 20_000 / 6) < 300, `${within} values in part ${part}`)
  }
  const other = await virtualTag('siggen/rand3~1+10@1').valuesAt(times)
  assert.ok(noise.filter((value, i) => value === other[i]).length < 3)
  assert.deepEqual(await virtualTag('siggen/rand3~0+10@1').valuesAt(times), noise)
})

test('aggregates over five centuries of a period of 100 microseconds take no time', async () => {
  const series = virtualTag('siggen/sin10+2@0.0001')
  const edges = Float64Array.of(MIN_INSTANT, 0, END_INSTANT)
  const need = {
    kind: 'aggregates',
    from: MIN_INSTANT,
    to: END_INSTANT,
    count: 2,
    names: [],
    key: 0,
  } as const
  assert.equal(generatedFor(series, need), 0)
  const found = await series.aggregates(edges, FIRST_AGGREGATE_NAMES)
  assert.deepEqual(found.count, Float64Array.of(-MIN_INSTANT, END_INSTANT))
  assert.deepEqual(found.min, Float64Array.of(-8, -8))
  assert.deepEqual(found.max, Float64Array.of(12, 12))
  for (const name of ['avg', 'median', 'timeAvg'] as const) {
    assert.ok(
      found[name]!.every((value) => Math.abs(value - 2) < 1e-9),
      name,
    )
  }
  assert.ok(found.variance!.every((value) => Math.abs(value - 50) < 1e-9))
})

test('points that would be generated are counted before any is made, equal reads once', async () => {
  const year = { from: instantFromUs(0), to: instantFromUs(365 * 86_400 * US_PER_SECOND) }
  const stream = { kind: 'chunks', ...year, beyond: 0 } as const
  const series = virtualTag('siggen/sin1@1000')
  assert.equal(generatedFor(series, stream, stream), 3_153_600)
  assert.equal(generatedFor(series, { kind: 'raw', ...year, order: 'asc', count: 10 }), 0)
  const noise = virtualTag('siggen/rand1@1')
  assert.ok(generatedFor(noise, { kind: 'aggregates', ...year, count: 1, names: ['avg'], key: 0 }) > 3e9)
  const chunks = noise.chunks.bind(noise, { ...year, order: 'asc', page: 1000, extent: 'all' })
  assert.throws(chunks, { code: 'LIMIT_GENERATED_POINTS' })
  assert.ok(MAX_GENERATED_POINTS < 2 * 3_153_600)
})

/** Points that would be generated for some needs. */
function generatedFor({ operator }: ReturnType<typeof virtualTag>, ...needs: readonly Need[]): number {
  const found = estimateNow(operator, needs)
  assert.deepEqual(found.reads, [], 'a signal reads no historian')
  return found.generated.values().reduce((sum, points) => sum + points, 0)
}
