import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, fill, historianOf, type Json, timeOf } from '../../test/multi-harness.ts'

const context = { signal: new AbortController().signal }
const NO_METADATA = { description: null, units: null, stepped: false }
const plant = new MemoryHistorian('plant')
await fill(plant, {
  // Closed until 10:10, open until 10:40 (the BAD point is none, the repeated one changes nothing), no name until 10:50
  // (two values), closed until 11:00, open from then on. It is noon.
  VALVE: {
    points: [
      ['10:00', -0],
      ['10:10', 1],
      ['10:20', 0, 'BAD'],
      ['10:30', 1],
      ['10:40', 7],
      ['10:45', 8],
      ['10:50', 0],
      ['11:00', 1],
    ],
  },
  RUN: {
    stepped: true,
    points: [
      ['10:05', 1],
      ['10:15', 0],
      ['10:35', 1],
      ['10:55', 0],
    ],
  },
  FLOW: { points: [['10:00', 1]] },
  EMPTY: { points: [] },
})
const states = { '0': 'Closed', '1': 'Open', '2': '__proto__', '3': '7' }
for (const name of ['VALVE', 'EMPTY']) {
  await plant.putTags([{ name, metadata: { ...NO_METADATA, states } }], 'update', context)
}

const at = (time: string) => `2026-01-15T${time}:00Z`
const time = (minutes: number, visits: number) => ({ seconds: minutes * 60, visits })

async function ask(
  details: object,
  { tag = 'plant/VALVE', type = 'AGGREGATED_POINTS', call = {} } = {},
): Promise<Json> {
  const body = { ...call, requests: { a: { type, tag, details: { aggregates: ['states'], ...details } } } }
  const { results, errors, explain } = (await askBody([plant], body)).json
  return explain ?? results.a ?? errors.a
}

/** States that were met, as Object.entries so that no name is special. */
const met = (window: Json) => Object.entries(window.states).filter(([, { visits }]: Json) => visits > 0)

test('STATES: seconds and visits of every state, values without a name under other', async () => {
  const { aggregates } = await ask({ from: at('09:00'), to: at('13:00') })
  assert.deepEqual(Object.entries(aggregates[0].states), [
    // Keys that look like indexes come first in an object, whatever the text says.
    ['7', time(0, 0)],
    ['Closed', time(20, 2)],
    ['Open', time(90, 2)],
    ['__proto__', time(0, 0)],
    ['other', time(10, 1)],
  ])
  assert.equal(aggregates[0].avg, null)
})

test('a window has the visits that meet it: one that goes on over a boundary is one of both', async () => {
  const details = { from: at('10:05'), to: at('11:05'), count: 4 }
  const { aggregates } = await ask(details, { type: 'MULTIPLE_AGGREGATED_POINTS' })
  assert.deepEqual(aggregates.map(met), [
    [
      ['Closed', time(5, 1)],
      ['Open', time(10, 1)],
    ],
    [['Open', time(15, 1)]],
    [
      ['Open', time(5, 1)],
      ['other', time(10, 1)],
    ],
    [
      ['Closed', time(10, 1)],
      ['Open', time(5, 1)],
    ],
  ])
})

test('before the first value and after now there is no state, and other is left out', async () => {
  for (const [from, to] of [
    ['09:00', '10:00'],
    ['12:00', '13:00'],
  ]) {
    const { aggregates } = await ask({ from: at(from!), to: at(to!) })
    assert.deepEqual(Object.values(aggregates[0].states), [time(0, 0), time(0, 0), time(0, 0), time(0, 0)])
  }
  const { aggregates } = await ask({ from: at('09:00'), to: at('12:00') }, { tag: 'plant/EMPTY' })
  assert.deepEqual(met(aggregates[0]), [])
})

test('columns of intervals have all that was asked for, also where there is no interval', async () => {
  const details = { aggregatesOf: 'plant/VALVE', aggregates: ['STATES', 'AVG'], from: at('10:00') }
  const columns = { type: 'INTERVALS', call: { format: 'columns' } }
  const found = await ask({ ...details, to: at('11:00') }, { ...columns, tag: 'plant/RUN' })
  const none = await ask({ ...details, to: at('11:00') }, { ...columns, tag: 'constants/0' })
  assert.deepEqual(Object.keys(none.intervals.aggregates), Object.keys(found.intervals.aggregates))
  assert.deepEqual(none.intervals.aggregates.states, [])
  assert.deepEqual(none.intervals.aggregates.avg, [])
})

test('maxGap ends a value, and what comes after it is another visit', async () => {
  const { aggregates } = await ask({ from: at('10:00'), to: at('12:00'), maxGap: '8m' })
  assert.deepEqual(met(aggregates[0]), [
    ['Closed', time(16, 2)],
    ['Open', time(24, 3)],
    ['other', time(10, 1)],
  ])
})

test('the example of docs/multi.md', async () => {
  const page = readFileSync(new URL('../../docs/multi.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('### Times of states'), page.indexOf('## Charts'))
  const [request, answer] = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!))
  const local = await historianOf('local', {
    VALVE: {
      points: [
        ['05:00', 0],
        ['06:30', 1],
        ['07:30', 0],
        ['10:00', 1],
        ['10:10', 1],
        ['12:00', 7],
        ['12:15', 0],
      ],
    },
  })
  const metadata = { ...NO_METADATA, states: { '0': 'Closed', '1': 'Open', '2': 'Faulty' } }
  await local.putTags([{ name: 'VALVE', metadata }], 'update', context)
  const { json } = await askBody([local], request, { now: timeOf('15:00') })
  assert.deepEqual(json.results.shift.aggregates[0].states, answer.states)
})

test('a tag without states, and a calculation, has null', async () => {
  const range = { from: at('10:00'), to: at('11:00') }
  for (const tag of ['plant/FLOW', 'calc/ADD(plant/VALVE, 0)', 'calc/ADD(plant/VALVE)']) {
    const { aggregates } = await ask({ ...range, aggregates: ['STATES', 'COUNT'] }, { tag })
    assert.equal(aggregates[0].states, null, tag)
    assert.ok(aggregates[0].count > 0)
    assert.equal((await ask(range, { tag })).aggregates[0].states, null)
  }
})

test('it is there only where it was asked for, beside others', async () => {
  const range = { from: at('10:00'), to: at('11:00') }
  const { aggregates } = await ask({ ...range, aggregates: ['Max', 'States', 'numTransitions'] })
  assert.deepEqual([aggregates[0].max, aggregates[0].numTransitions], [8, 2])
  assert.deepEqual(aggregates[0].states.Open, time(30, 1))
  assert.ok(!('states' in (await ask({ ...range, aggregates: null })).aggregates[0]))
  assert.match(await ask({ ...range, aggregates: ['STATUS'] }), /aggregates.*STATES/)
})

test('in columns it is an array of such objects', async () => {
  const details = { from: at('10:00'), to: at('10:30'), interval: '15m', anchor: '06:05' }
  const options = { type: 'MULTIPLE_AGGREGATED_POINTS', call: { format: 'columns' } }
  const { aggregates } = await ask(details, options)
  assert.deepEqual(Object.keys(aggregates), ['from', 'to', 'unit', 'partial', 'states'])
  assert.deepEqual(
    aggregates.states.map((states: Json) => met({ states })),
    [
      [['Closed', time(5, 1)]],
      [
        ['Closed', time(5, 1)],
        ['Open', time(10, 1)],
      ],
      [['Open', time(10, 1)]],
    ],
  )
  assert.deepEqual((await ask(details, { ...options, tag: 'plant/FLOW' })).aggregates.states, [
    null,
    null,
    null,
  ])
})

test('windows of no length meet nothing', async () => {
  const details = { from: at('10:00'), to: '2026-01-15T10:00:00.000001Z', count: 3 }
  const { aggregates } = await ask(details, { type: 'MULTIPLE_AGGREGATED_POINTS' })
  assert.deepEqual(
    aggregates.map((window: Json) => window.states.Closed),
    [0, 1, 0].map((visits) => ({ seconds: visits / 1_000_000, visits })),
  )
})

test('over the intervals of another tag', async () => {
  const details = { from: at('10:00'), to: at('11:00'), aggregatesOf: 'plant/VALVE' }
  const options = { tag: 'plant/RUN', type: 'INTERVALS' }
  const { intervals } = await ask(details, options)
  assert.equal(intervals.length, 2)
  assert.deepEqual(
    intervals.map(({ aggregates }: Json) => met(aggregates)),
    [
      [
        ['Closed', time(5, 1)],
        ['Open', time(5, 1)],
      ],
      [
        ['Closed', time(5, 1)],
        ['Open', time(5, 1)],
        ['other', time(10, 1)],
      ],
    ],
  )
  const columns = (await ask(details, { ...options, call: { format: 'columns' } })).intervals.aggregates
  assert.deepEqual(met({ states: columns.states[0] }), [
    ['Closed', time(5, 1)],
    ['Open', time(5, 1)],
  ])
  const none = await ask({ ...details, to: at('10:01') }, { ...options, call: { format: 'columns' } })
  assert.deepEqual(none.intervals.from, [])
})

test('explain tells the points that it needs, and none of a tag without states', async () => {
  const range = { from: at('10:00'), to: at('11:00') }
  const explained = async (tag: string, aggregates: readonly string[]) =>
    (await ask({ ...range, aggregates }, { tag, call: { explain: true } })).requests.a
  const { load, tags, pushDowns } = await explained('plant/VALVE', ['STATES'])
  assert.deepEqual({ tags, pushDowns }, { tags: ['plant/VALVE'], pushDowns: [] })
  const total = await explained('plant/VALVE', ['DURATIONZERO'])
  assert.ok(load >= 7 && load <= total.load + 7, `${load} for 7 points, ${total.load} for DURATIONZERO`)
  assert.equal((await explained('plant/FLOW', ['STATES'])).load, 0)
})
