import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import {
  columnOf,
  held,
  missing,
  onLine,
  pathOf,
  type Row,
  readRows,
  type Sample,
  trapezoid,
} from './files.ts'

const HOUR = 3_600_000
/** After all of the files, so that nothing of them is beyond `now`. */
const NOW = '2021-01-01T00:00:00Z'
const FLOW = 'Volume Flow RateRMS'

interface Point {
  readonly timestamp: string
  readonly value: number | null
  readonly status: string
}

interface Result {
  readonly dataPoint: Point
  readonly dataPoints: readonly Point[]
  readonly aggregates: readonly Record<string, number | string | null>[]
  /** The cursor of the rest. */
  readonly next?: string
}

/** Makes one multi call of requests by label, all of which must be answered. */
async function ask(
  service: RunningService,
  requests: Record<string, { type: string; tag: string; details?: object }>,
): Promise<Record<string, Result>> {
  const { status, body } = await service.post('/historian/multi', { now: NOW, timeZone: 'UTC', requests })
  assert.deepEqual([status, body.errors], [200, {}])
  const results = body.results as Record<string, Result>
  const next = (body.next ?? {}) as Record<string, string>
  for (const label of Object.keys(next)) results[label] = { ...results[label]!, next: next[label]! }
  return results
}

const iso = (time: number) => new Date(time).toISOString()

function near(actual: unknown, expected: number | null, what: string): void {
  if (expected === null || typeof actual !== 'number') {
    assert.equal(actual, expected, what)
  } else {
    const tolerance = 1e-9 * Math.max(1, Math.abs(expected))
    assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected}`)
  }
}

/** What aggregates of the samples of one window should be. */
function aggregatesOf(samples: readonly Sample[]) {
  const values = samples.map(({ value }) => value)
  const sum = values.reduce((total, value) => total + value, 0)
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const mean = sum / values.length
  return {
    count: values.length,
    min: sorted[0]!,
    max: sorted.at(-1)!,
    first: values[0]!,
    last: values.at(-1)!,
    sum,
    avg: mean,
    median: sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2,
    variance: values.reduce((total, value) => total + (value - mean) ** 2, 0) / (values.length - 1),
  }
}

/** All raw points of a tag, page by page. */
async function allRaw(service: RunningService, tag: string, maxPoints: number): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  let details: object = { from: '2010-01-01', to: NOW, maxPoints }
  while (true) {
    const { raw } = await ask(service, { raw: { type: 'RAW_POINTS', tag, details } })
    for (const { timestamp, value } of raw!.dataPoints)
      samples.push({ time: Date.parse(timestamp), value: value! })
    if (raw!.next === undefined) return samples
    details = { cursor: raw!.next, maxPoints }
  }
}

async function checkHours(service: RunningService, tag: string, samples: readonly Sample[]): Promise<void> {
  const from = Math.floor(samples[0]!.time / HOUR) * HOUR
  const to = from + Math.min(200, Math.ceil((samples.at(-1)!.time + 1 - from) / HOUR)) * HOUR
  const details = { from: iso(from), to: iso(to), interval: '1h' }
  const { hours } = await ask(service, { hours: { type: 'MULTIPLE_AGGREGATED_POINTS', tag, details } })
  assert.equal(hours!.aggregates.length, (to - from) / HOUR)
  for (const [index, window] of hours!.aggregates.entries()) {
    const start = from + index * HOUR
    assert.equal(window.from, iso(start))
    const inside = samples.filter(({ time }) => time >= start && time < start + HOUR)
    if (inside.length === 0) {
      assert.deepEqual([window.count, window.avg, window.sum], [0, null, null])
      continue
    }
    const { variance, ...expected } = aggregatesOf(inside)
    for (const [name, value] of Object.entries(expected))
      near(window[name], value, `${name} of ${window.from}`)
    if (inside.length > 1) {
      assert.ok(
        Math.abs((window.variance as number) - variance) <= 1e-7 * Math.max(1e-6, variance),
        `variance of ${window.from}`,
      )
    }
    assert.deepEqual([window.numGood, window.numBad], [inside.length, 0])
    const begin = Math.max(start, samples[0]!.time)
    near(
      window.timeAvg,
      (trapezoid(samples, begin, start + HOUR) * HOUR) / (start + HOUR - begin),
      `timeAvg of ${window.from}`,
    )
  }
}

describe('a pump test bed, imported in the wide form', { skip: missing('pump-loop.csv') }, () => {
  const tag = `local/${FLOW}`
  let service: RunningService
  let rows: readonly Row[]
  let flow: readonly Sample[]
  before(async () => {
    rows = readRows('pump-loop.csv', ';')
    flow = columnOf(rows, FLOW)
    const cwd = await temporaryFolder()
    const imported = await tidemark(
      ['import', pathOf('pump-loop.csv'), '--zone', 'UTC', '--units', `${FLOW}=l/min`],
      { cwd },
    )
    assert.match(imported.stdout, /^Imported 75,240 points of 8 tags in 9,405 rows/, imported.stderr)
    service = await serve([], { cwd })
  })

  it('has a tag for each column, by its name', async () => {
    const response = await fetch(`${service.url}/historian/search?historian=local`, {
      headers: { 'X-Api-Key': service.readKey },
    })
    const { tags } = (await response.json()) as { tags: { tagName: string; units: string | null }[] }
    assert.deepEqual(tags.map(({ tagName }) => tagName).sort(), [...rows[0]!.values.keys()].sort())
    assert.equal(tags.find(({ tagName }) => tagName === FLOW)?.units, 'l/min')
  })

  it('gives every raw point back, page by page', async () => {
    for (const column of [FLOW, 'Pressure']) {
      assert.deepEqual(await allRaw(service, `local/${column}`, 4000), columnOf(rows, column))
    }
  })

  it('interpolates on the line across its gaps', async () => {
    const gaps = flow.flatMap(({ time }, index) => {
      const next = flow[index + 1]
      return next !== undefined && next.time - time > 1000 ? [{ time, length: next.time - time }] : []
    })
    assert.ok(gaps.length > 100, `${gaps.length} gaps`)
    const times = gaps.slice(0, 300).flatMap(({ time, length }) => [time + 250, time + length / 2])
    const requests = Object.fromEntries(
      times.map((time) => [String(time), { type: 'HISTORICAL_POINT', tag, details: { at: iso(time) } }]),
    )
    const results = await ask(service, requests)
    for (const time of times) near(results[time]!.dataPoint.value, onLine(flow, time), iso(time))
  })

  it('interpolates on an even grid', async () => {
    const from = flow[0]!.time
    const count = 1001
    const step = 10_500
    const details = { from: iso(from), to: iso(from + (count - 1) * step), count }
    const { grid } = await ask(service, { grid: { type: 'INTERPOLATED_POINTS', tag, details } })
    assert.equal(grid!.dataPoints.length, count)
    for (const [index, { timestamp, value }] of grid!.dataPoints.entries()) {
      assert.equal(timestamp, iso(from + index * step))
      near(value, onLine(flow, from + index * step), timestamp)
    }
  })

  it('aggregates by the hour', () => checkHours(service, tag, flow))

  it('totals its flow to what trapezoids over the rows give', async () => {
    const first = flow[0]!.time
    const day = Math.floor(first / (24 * HOUR)) * 24 * HOUR
    const times = [first + 61_500, first + HOUR, flow.at(-1)!.time]
    const total = `calc/TOTALISE(${tag}, DAY, BEGIN_DAY, 1h)`
    const requests = Object.fromEntries(
      times.map((time) => [
        String(time),
        { type: 'HISTORICAL_POINT', tag: total, details: { at: iso(time) } },
      ]),
    )
    const results = await ask(service, requests)
    for (const time of times) near(results[time]!.dataPoint.value, trapezoid(flow, day, time), iso(time))
  })
})

describe('its flags, imported as stepped tags', { skip: missing('pump-loop-valve1.csv') }, () => {
  let service: RunningService
  let rows: readonly Row[]
  before(async () => {
    rows = readRows('pump-loop-valve1.csv', ';')
    const cwd = await temporaryFolder()
    const flags = 'anomaly,changepoint'
    const options = ['--zone', 'UTC', '--columns', flags, '--stepped', flags, '--prefix', 'valve1.']
    const imported = await tidemark(['import', pathOf('pump-loop-valve1.csv'), ...options], { cwd })
    assert.match(imported.stdout, /^Imported [\d,]+ points of 2 tags/, imported.stderr)
    service = await serve([], { cwd })
  })

  it('are held between their points, and never between 0 and 1', async () => {
    for (const flag of ['anomaly', 'changepoint']) {
      const samples = columnOf(rows, flag)
      const switches = samples.filter(({ value }, index) => index > 0 && value !== samples[index - 1]!.value)
      assert.ok(switches.length > 0, flag)
      const times = switches.flatMap(({ time }) => [time - 1, time - 500, time, time + 500])
      const tag = `local/valve1.${flag}`
      const requests = Object.fromEntries(
        times.map((time) => [String(time), { type: 'HISTORICAL_POINT', tag, details: { at: iso(time) } }]),
      )
      const results = await ask(service, requests)
      for (const time of times)
        assert.equal(results[time]!.dataPoint.value, held(samples, time), `${flag} ${iso(time)}`)
    }
  })

  it('total to the time that they were on', async () => {
    const samples = columnOf(rows, 'anomaly')
    const end = samples.at(-1)!.time
    const on = samples.reduce(
      (sum, { time, value }, index) => sum + value * ((samples[index + 1]?.time ?? end) - time),
      0,
    )
    assert.ok(on > 0)
    const tag = 'calc/TOTALISE(local/valve1.anomaly, DAY, BEGIN_DAY, 1s)'
    const { total } = await ask(service, {
      total: { type: 'HISTORICAL_POINT', tag, details: { at: iso(end) } },
    })
    near(total!.dataPoint.value, on / 1000, 'seconds on')
  })
})

describe('the temperature of a machine, with times that occur twice', {
  skip: missing('machine-temperature.csv'),
}, () => {
  const tag = 'local/machine temperature'
  let service: RunningService
  let rows: readonly Row[]
  let samples: readonly Sample[]
  before(async () => {
    rows = readRows('machine-temperature.csv', ',')
    samples = columnOf(rows, 'value')
    const cwd = await temporaryFolder()
    service = await serve([], { cwd })
    const remote = ['--url', service.url, '--key', service.writeKey]
    const options = ['--zone', 'UTC', '--rename', 'value=machine temperature', '--batch', '7000']
    const imported = await tidemark(['import', pathOf('machine-temperature.csv'), ...options, ...remote], {
      cwd,
    })
    assert.match(imported.stdout, /^Imported 22,695 points of 1 tag in 22,695 rows/, imported.stderr)
  })

  it('has one point for each time, the last one of the file', async () => {
    assert.ok(samples.length < rows.length)
    assert.deepEqual(await allRaw(service, tag, 5000), samples)
  })

  it('aggregates by the hour', () => checkHours(service, tag, samples))

  it('counts and averages the whole', async () => {
    const details = {
      from: '2013-01-01',
      to: '2015-01-01',
      aggregates: ['COUNT', 'AVG', 'MIN', 'MAX', 'MEDIAN'],
    }
    const { whole } = await ask(service, { whole: { type: 'AGGREGATED_POINTS', tag, details } })
    const { count, avg, min, max, median } = aggregatesOf(samples)
    const answer = whole!.aggregates[0]!
    for (const [name, value] of Object.entries({ count, avg, min, max, median }))
      near(answer[name], value, name)
  })
})
