import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { AGGREGATE_NAMES } from '../../src/series/aggregate-names.ts'
import { makeColumns, type PointColumns, STATUS_BAD, sliceColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { temporaryFolder } from '../durability/folder.ts'
import { askBody, timeOf } from '../multi-harness.ts'

/** Further aggregates of the embedded historian over many blocks, against plain loops over all points. */

const { signal } = new AbortController()
const log = { info() {}, warn() {}, error() {} }
const COUNT = 300_000
const SECOND = 1_000_000
const FIRST_DAY = '2026-01-10T00:00:00Z'
const START = timeOf(FIRST_DAY)
/** Of the harness. */
const NOW = timeOf('2026-01-15T12:00:00Z')

/** A point a second of digits that hardly compress, with times of 0, gaps, and BAD points alone and in runs. */
function noisy(): PointColumns {
  const points = makeColumns(COUNT)
  let time: number = START
  for (let i = 0; i < COUNT; i++) {
    time += SECOND + (i % 7) * 100_003
    if (i % 50_000 === 49_999) time += 1_000 * SECOND
    points.times[i] = time
    const isOff = i % 90_000 < 30_000 && i % 11_000 > 3_000
    points.values[i] = isOff ? 0 : Math.abs(Math.sin(i * i)) * 100 + i / 1e4 + 1
    if (i % 20_011 === 0 || (i > 120_000 && i < 127_000)) points.statuses[i] = STATUS_BAD
  }
  return points
}

interface Window {
  readonly from: number
  readonly to: number
}

/** What a window is, point by point. */
function slowly(
  { times, values, statuses }: PointColumns,
  stepped: boolean,
  gap: number,
  { from, to }: Window,
) {
  const found = {
    minTime: Number.NaN,
    maxTime: Number.NaN,
    durationGood: 0,
    durationBad: 0,
    numTransitions: 0,
    durationZero: 0,
    durationNonZero: 0,
    total: 0,
    increase: 0,
  }
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [time, value] = [Number.NaN, 0]
  /** Value just before the window, and the last one of the counter in it. */
  let level = Number.NaN
  const overlap = (start: number, end: number) => Math.max(0, Math.min(end, to) - Math.max(start, from))
  const line = (at: number, next: number, nextValue: number) =>
    stepped ? value : value + ((nextValue - value) * (at - time)) / (next - time)
  const span = (next: number, nextValue: number) => {
    const isGap = next - time > gap
    if (isGap && !stepped) return
    const end = isGap ? time + gap : next
    const us = overlap(time, end)
    if (us === 0) return
    const [a, b] = [Math.max(time, from), Math.min(end, to)]
    found.total += us * ((line(a, next, nextValue) + line(b, next, nextValue)) / 2)
    const isZero = value === 0 && (stepped || nextValue === 0)
    if (isZero) found.durationZero += us / SECOND
    else found.durationNonZero += us / SECOND
  }
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    const isGood = statuses[i] === 0
    const us = overlap(at, Math.min(times[i + 1] ?? NOW, NOW))
    if (isGood) found.durationGood += us / SECOND
    else found.durationBad += us / SECOND
    if (!isGood) continue
    if (!Number.isNaN(time)) span(at, values[i]!)
    const isInside = at >= from && at < to
    const crossesStart = time < from && at >= from
    // Just before the window: on the line, or held, unless the signal has ended.
    if (crossesStart) {
      const hasValue = at - time <= gap || (stepped && from - time <= gap)
      level = hasValue ? line(from, at, values[i]!) : value
      if (at < to && values[i]! < value) level = 0
    }
    if (isInside) {
      if (values[i]! < least) [least, found.minTime] = [values[i]!, at]
      if (values[i]! > greatest) [greatest, found.maxTime] = [values[i]!, at]
      if (!Number.isNaN(time) && (value === 0) !== (values[i] === 0)) found.numTransitions++
      if (Number.isNaN(level)) level = values[i]!
      found.increase += values[i]! >= level ? values[i]! - level : values[i]!
      level = values[i]!
    }
    if (time < to && at >= to && !stepped && at - time <= gap)
      found.increase += Math.max(0, line(to, at, values[i]!) - level)
    time = at
    value = values[i]!
  }
  // The last value holds.
  const us = overlap(time, Math.min(NOW, time + gap))
  found.total += us * value
  if (value === 0) found.durationZero += us / SECOND
  else found.durationNonZero += us / SECOND
  return found
}

async function plant(t: { after(done: () => unknown): void }, folder: string) {
  const store = await openFileStore(folder, { historian: 'plant', owner: true, log })
  const historian = new EmbeddedHistorian(store, true)
  t.after(() => historian.close())
  return { store, historian }
}

async function ask(historian: EmbeddedHistorian, tag: string, details: object) {
  const requests = { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag, details } }
  const historians = [historian]
  const { json, answer } = await askBody(historians, { requests })
  assert.deepEqual(json.errors ?? {}, {})
  const { json: explained } = await askBody(historians, { requests, explain: true })
  return {
    aggregates: json.results.a.aggregates,
    fetched: answer.statistics.points,
    load: explained.explain.totals.load,
  }
}

const TAGS = [
  ['LINE', false, null],
  ['STEP', true, null],
  ['SHORT', false, '2s'],
  ['HELD', true, '2s'],
  ['LONG', true, '10min'],
] as const

const GAPS_US = { '2s': 2 * SECOND, '10min': 600 * SECOND }

test('aggregates of many blocks are those of all points, flushed or not, at the load of their windows', async (t) => {
  const { store, historian } = await plant(t, temporaryFolder(t))
  const points = noisy()
  for (const [name, stepped, maxGap] of TAGS) {
    const metadata = { description: null, units: null, stepped, maxGap }
    await historian.putTags([{ name, metadata }], 'create', { signal })
    await historian.write(writeBatch([{ tag: name, points: sliceColumns(points, 0, 290_000) }], false), {
      signal,
    })
  }
  await store.flush()
  // What lies over a block, in memory, and what was never flushed.
  for (let i = 60_000; i < 60_050; i++) {
    points.values[i] = i % 2 === 0 ? 0 : -1
    points.statuses[i] = 0
  }
  for (const [tag] of TAGS) {
    for (const [from, to] of [
      [60_000, 60_050],
      [290_000, COUNT],
    ] as const)
      await historian.write(writeBatch([{ tag, points: sliceColumns(points, from, to) }], false), { signal })
  }
  const from = '2026-01-10T01:00:00.123456Z'
  const to = '2026-01-15T14:00:00.000007Z'
  for (const [tag, stepped, maxGap] of TAGS) {
    const gap = maxGap === null ? Number.POSITIVE_INFINITY : GAPS_US[maxGap]
    for (const count of [1, 7]) {
      const aggregates = [
        'MINTIME',
        'MAXTIME',
        'DURATIONGOOD',
        'DURATIONBAD',
        'NUMTRANSITIONS',
        'DURATIONZERO',
      ]
      const names = [...aggregates, 'DURATIONNONZERO', 'TOTAL', 'INCREASE']
      const details = { from, to, count, per: '1s', aggregates: names }
      const { aggregates: windows, fetched, load } = await ask(historian, `plant/${tag}`, details)
      assert.ok(fetched <= load && load === count + 2, `${fetched} fetched, ${load} estimated`)
      for (const window of windows) {
        const edges = { from: timeOf(window.from), to: timeOf(window.to) }
        const { minTime, maxTime, total, ...expected } = slowly(points, stepped, gap, edges)
        const what = `${tag} of ${count} from ${window.from}`
        const timeOrNull = (time: string | null) => (time === null ? Number.NaN : timeOf(time))
        assert.equal(timeOrNull(window.minTime), minTime, what)
        assert.equal(timeOrNull(window.maxTime), maxTime, what)
        const near = (name: string, value: number) => {
          const difference = Math.abs((window[name] ?? 0) - value)
          assert.ok(
            difference <= 1e-8 * Math.max(1, Math.abs(value)),
            `${name} of ${what}: ${window[name]} ${value}`,
          )
        }
        near('total', total / SECOND)
        for (const [name, value] of Object.entries(expected)) near(name, value)
      }
    }
  }
})

test('each aggregate but MEDIAN and STATES costs a few points for each window, with maxGap too', async (t) => {
  const { store, historian } = await plant(t, temporaryFolder(t))
  const points = sliceColumns(noisy(), 0, 50_000)
  for (const [name, maxGap] of [
    ['FREE', null],
    ['SHORT', '2s'],
  ] as const) {
    const metadata = { description: null, units: null, stepped: false, maxGap }
    await historian.putTags([{ name, metadata }], 'create', { signal })
    await historian.write(writeBatch([{ tag: name, points }], false), { signal })
  }
  await store.flush()
  const all = AGGREGATE_NAMES.filter((name) => name !== 'median')
  for (const tag of ['plant/FREE', 'plant/SHORT']) {
    for (const aggregates of [...all.map((name) => [name]), all]) {
      const details = { from: FIRST_DAY, to: '2026-01-11T00:00:00Z', count: 24, aggregates }
      const perUnit = aggregates.includes('total') ? { per: '1h' } : {}
      const { fetched, load } = await ask(historian, tag, { ...details, ...perUnit })
      assert.ok(fetched <= load && load <= 3 * 24 + 6, `${load} estimated for ${aggregates} of ${tag}`)
    }
  }
})

test('states of many blocks are those of all points, at the load of the blocks in which they change', async (t) => {
  const { store, historian } = await plant(t, temporaryFolder(t))
  const points = makeColumns(COUNT)
  const states = { '0': 'Closed', '1': 'Open' }
  for (let i = 0; i < COUNT; i++) {
    points.times[i] = START + i * SECOND
    const phase = Math.floor(i / 12_345) % 4
    // Values without a name change from point to point.
    points.values[i] = phase === 3 ? 5 + (i % 10) / 7 : phase === 2 ? 0 : phase
    if (i % 40_000 === 5) points.statuses[i] = STATUS_BAD
  }
  const metadata = { description: null, units: null, stepped: true, states }
  await historian.putTags([{ name: 'VALVE', metadata }], 'create', { signal })
  await historian.write(writeBatch([{ tag: 'VALVE', points }], false), { signal })
  await store.flush()
  const details = {
    from: '2026-01-10T00:00:00.5Z',
    to: '2026-01-13T00:00:00Z',
    count: 5,
    aggregates: ['STATES'],
  }
  const { aggregates, fetched, load } = await ask(historian, 'plant/VALVE', details)
  assert.ok(fetched <= load, `${fetched} fetched, ${load} estimated`)
  assert.ok(load < COUNT / 10, `${load} estimated of ${COUNT}`)
  for (const window of aggregates) {
    const [from, to] = [timeOf(window.from), timeOf(window.to)]
    const seconds: Record<string, number> = { Closed: 0, Open: 0 }
    const visits: Record<string, number> = { Closed: 0, Open: 0 }
    let before: string | null = null
    for (let i = 0; i < COUNT; i++) {
      if (points.statuses[i] === STATUS_BAD) continue
      const next = i + 1 < COUNT && points.statuses[i + 1] === STATUS_BAD ? i + 2 : i + 1
      const [start, end] = [points.times[i]!, next < COUNT ? points.times[next]! : NOW]
      const us = Math.min(end, to) - Math.max(start, from)
      if (us <= 0) continue
      const name: string = states[String(points.values[i]!) as '0' | '1'] ?? 'other'
      seconds[name] = (seconds[name] ?? 0) + us / SECOND
      if (name !== before) visits[name] = (visits[name] ?? 0) + 1
      before = name
    }
    assert.deepEqual(Object.keys(window.states).toSorted(), Object.keys(seconds).toSorted())
    for (const [name, met] of Object.entries(window.states) as [
      string,
      { seconds: number; visits: number },
    ][]) {
      assert.ok(
        Math.abs(met.seconds - seconds[name]!) < 1e-6,
        `${name}: ${met.seconds} s, not ${seconds[name]}`,
      )
      assert.equal(met.visits, visits[name], `${name} from ${window.from}`)
    }
  }
})

test('rolling extremes over whole blocks are those of all points, at a few points for each time', async (t) => {
  const { store, historian } = await plant(t, temporaryFolder(t))
  const points = noisy()
  const { times, values, statuses } = points
  const good = [...times.keys()].filter((i) => statuses[i] === 0)
  const tags = TAGS.filter(([, , maxGap]) => maxGap === null)
  for (const [name, stepped, maxGap] of tags) {
    await historian.putTags(
      [{ name, metadata: { description: null, units: null, stepped, maxGap } }],
      'create',
      {
        signal,
      },
    )
    await historian.write(writeBatch([{ tag: name, points }], false), { signal })
  }
  await store.flush()
  const at = (time: number, stepped: boolean): number => {
    const next = good.findIndex((i) => times[i]! > time)
    const [before, after] = [good[next - 1]!, good[next]!]
    if (stepped || times[before] === time) return values[before]!
    const share = (time - times[before]!) / (times[after]! - times[before]!)
    return values[before]! + (values[after]! - values[before]!) * share
  }
  for (const [tag, stepped] of tags) {
    for (const op of ['MIN', 'MAX']) {
      const details = { from: '2026-01-11T03:00:00.25Z', to: '2026-01-13T18:00:00Z', count: 9 }
      const calculation = `calc/SLIDINGAGG(plant/${tag}, ${op}, 1d)`
      const requests = { a: { type: 'INTERPOLATED_POINTS', tag: calculation, details } }
      const { json, answer } = await askBody([historian], { requests })
      const { json: explained } = await askBody([historian], { requests, explain: true })
      const { load } = explained.explain.totals
      assert.ok(answer.statistics.points <= load && load <= 4 * 9 + 6, `${load} estimated`)
      for (const { timestamp, value } of json.results.a.dataPoints) {
        const to = timeOf(timestamp)
        const from = to - 86_400 * SECOND
        const inside = good.filter((i) => times[i]! > from && times[i]! <= to).map((i) => values[i]!)
        const all = [...inside, at(from, stepped), at(to, stepped)]
        const expected = all.reduce((a, b) => (op === 'MIN' ? Math.min(a, b) : Math.max(a, b)))
        assert.ok(
          Math.abs(value - expected) < 1e-9,
          `${op} of ${tag} at ${timestamp}: ${value}, not ${expected}`,
        )
      }
    }
  }
})
