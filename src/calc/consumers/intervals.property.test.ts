import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf } from '../graph/series.fixture.ts'
import { gapsOf } from './gaps.ts'
import { intervalsOf } from './intervals.ts'

const SPAN = 200

interface Setting {
  readonly rows: readonly Row[]
  readonly stepped: boolean
  readonly from: number
  readonly to: number
  readonly now: number
  readonly mergeUs: number
  readonly minUs: number
  readonly longerThanUs: number
  readonly limit: number
  readonly page: number
}

/** Values are 0 in half of the points. */
const row = fc.tuple(
  fc.integer({ min: -SPAN / 4, max: (5 * SPAN) / 4 }),
  fc.oneof(fc.constant(0), fc.integer({ min: -3, max: 3 })),
  fc.nat(5).map((odds) => odds === 0),
)

const settings: fc.Arbitrary<Setting> = fc.record({
  rows: fc
    .uniqueArray(row, { maxLength: 60, selector: ([time]) => time })
    .map((rows) => rows.toSorted((a, b) => a[0] - b[0])),
  stepped: fc.boolean(),
  from: fc.integer({ min: 0, max: SPAN / 2 }),
  to: fc.integer({ min: SPAN / 2 + 1, max: SPAN }),
  now: fc.integer({ min: -SPAN / 4, max: (5 * SPAN) / 4 }),
  mergeUs: fc.oneof(fc.constant(0), fc.nat(30)),
  minUs: fc.oneof(fc.constant(0), fc.nat(30)),
  longerThanUs: fc.integer({ min: 1, max: 30 }),
  limit: fc.integer({ min: 1, max: 5 }),
  page: fc.integer({ min: 2, max: 20 }),
})

type State = 'none' | 'zero' | 'not zero'

/** What the signal is between an instant and the next one. */
function stateAfter({ rows, stepped, now }: Setting, at: number): State {
  let before: Row | null = null
  let after: Row | null = null
  for (const one of rows) {
    if (one[2]) continue
    if (one[0] <= at) before = one
    else after ??= one
  }
  if (before === null) return 'none'
  if (after === null) return at >= now ? 'none' : before[1] === 0 ? 'zero' : 'not zero'
  return before[1] === 0 && (stepped || after[1] === 0) ? 'zero' : 'not zero'
}

interface Shown {
  readonly from: number
  readonly to: number
  readonly openStart: boolean
  readonly openEnd: boolean
}

/** Instant by instant. */
function expectedIntervals(setting: Setting): readonly Shown[] {
  const { from, to, now, mergeUs, minUs } = setting
  let found: Shown[] = []
  for (let at = from; at < to; at++) {
    if (stateAfter(setting, at) !== 'not zero') continue
    const last = found.at(-1)
    if (last?.to === at) found[found.length - 1] = { ...last, to: at + 1 }
    else found.push({ from: at, to: at + 1, openStart: false, openEnd: false })
  }
  found = found.map((one) => ({
    ...one,
    openStart: one.from === from && stateAfter(setting, from - 1) === 'not zero',
    openEnd:
      (one.to === to && stateAfter(setting, to) === 'not zero') ||
      (one.to === now && stateAfter(setting, now) === 'none'),
  }))
  const merged: Shown[] = []
  for (const one of found) {
    const last = merged.at(-1)
    let isPause = last !== undefined && one.from - last.to <= mergeUs
    for (let at = last?.to ?? one.from; at < one.from; at++) isPause &&= stateAfter(setting, at) === 'zero'
    if (last !== undefined && isPause) {
      merged[merged.length - 1] = { ...one, from: last.from, openStart: last.openStart }
    } else merged.push(one)
  }
  return merged.filter((one) => one.to - one.from >= minUs || one.openStart || one.openEnd)
}

/** Good raw point by good raw point. */
function expectedGaps({ rows, from, to, longerThanUs }: Setting) {
  const good = rows.filter(([time, , bad]) => !bad && time >= from && time < to).map(([time]) => time)
  const ends = [from, ...good, to]
  const gaps: { from: number; to: number; bad: boolean }[] = []
  for (let i = 1; i < ends.length; i++) {
    const [start, end] = [ends[i - 1]!, ends[i]!]
    if (end - start <= longerThanUs) continue
    const bad = rows.some(([time, , isBad]) => isBad && time >= start && time < end)
    gaps.push({ from: start, to: end, bad })
  }
  return gaps
}

function seriesFor(
  { rows, stepped, from, to, now, page }: Setting,
  tag: string,
  pushDowns: 'all' | 'none' = 'none',
) {
  const source = new ArraySource(new Map([['A', columnsOf(rows)]]))
  const at = instantFromUs(now)
  const range = { from: instantFromUs(from), to: instantFromUs(to) }
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: at, zone: UTC }
  const context = { source, now: at, zone: UTC, range, pagePoints: page }
  const series = seriesOf(parseTag(tag, options), context, ({ name }) => storedTag(name, stepped, pushDowns))
  return { series, source, range }
}

const TAGS = ['h/A', 'calc/NEG(h/A)', 'calc/ADD(h/A, 0)']

test('intervals are those of the signal, whole and page by page', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (setting) => {
      const expected = expectedIntervals(setting)
      const { mergeUs, minUs } = setting
      for (const tag of TAGS) {
        const { series, range } = seriesFor(setting, tag)
        for (const limit of [setting.limit, 1_000]) {
          const found: Shown[] = []
          let resumeAt: Instant | null = null
          for (let more = true; more; ) {
            const query = { ...range, mergeUs, minUs, limit, resumeAt }
            const result = await intervalsOf(series.operator, query, series.evaluation)
            const { from, to, openStart, openEnd } = result.intervals
            assert.equal(from.length === limit || !result.more, true)
            from.forEach((start, i) => {
              found.push({
                from: start,
                to: to[i]!,
                openStart: openStart[i] === 1,
                openEnd: openEnd[i] === 1,
              })
            })
            more = result.more
            if (more) resumeAt = instantFromUs(to.at(-1)!)
          }
          assert.deepEqual(found, expected, `${tag}, ${limit} a page`)
        }
      }
    }),
    { numRuns: 400 },
  )
})

test('gaps are those between good points, whole and page by page', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (setting) => {
      const expected = expectedGaps(setting)
      const { longerThanUs } = setting
      for (const [tag, pushDowns] of [
        ['h/A', 'all'] as const,
        ...TAGS.map((tag) => [tag, 'none'] as const),
      ]) {
        const { series, range } = seriesFor(setting, tag, pushDowns)
        for (const limit of [setting.limit, 1_000]) {
          const found: { from: number; to: number; bad: boolean }[] = []
          let resumeAt: Instant | null = null
          for (let more = true; more; ) {
            const query = { ...range, longerThanUs, limit, resumeAt }
            const page = await gapsOf(series.operator, query, series.evaluation)
            page.from.forEach((from, i) => {
              found.push({ from, to: page.to[i]!, bad: page.bad[i] === 1 })
            })
            more = page.more
            if (more) resumeAt = instantFromUs(page.to.at(-1)!)
          }
          assert.deepEqual(found, expected, `${tag}, ${limit} a page`)
        }
      }
    }),
    { numRuns: 400 },
  )
})

test('intervals and gaps are never estimated below what they read', async () => {
  await fc.assert(
    fc.asyncProperty(settings, async (setting) => {
      const { mergeUs, minUs, longerThanUs } = setting
      for (const tag of [...TAGS, 'calc/MUL(h/A, h/A)', 'calc/THRESHOLD(h/A, 1, 1, 0)']) {
        const one = seriesFor(setting, tag)
        const { from, to } = one.range
        const wide = { from: instantFromUs(from - 1), to: instantFromUs(to + 1) }
        const cost = costOf(one.series.estimate([{ kind: 'chunks', ...wide, beyond: 1 }]), one.source)
        const query = { ...one.range, mergeUs, minUs, limit: 1_000, resumeAt: null }
        await intervalsOf(one.series.operator, query, one.series.evaluation)
        assert.ok(one.source.crossed <= cost, `${tag}: ${one.source.crossed} crossed, ${cost} estimated`)

        const other = seriesFor(setting, tag)
        const gapCost = costOf(
          other.series.estimate([{ kind: 'gaps', from, to, count: 1_000, key: 0, longerThanUs }]),
          other.source,
        )
        const gaps = { ...other.range, longerThanUs, limit: 1_000, resumeAt: null }
        await gapsOf(other.series.operator, gaps, other.series.evaluation)
        assert.ok(other.source.crossed <= gapCost, `gaps of ${tag}: ${other.source.crossed}, ${gapCost}`)
      }
    }),
    { numRuns: 100 },
  )
})
