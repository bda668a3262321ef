import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, askOne, historianOf, type Json, NOON, show, showPoint } from '../../test/multi-harness.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await historianOf('plant', {
    FLOW: {
      points: [
        ['10:00', 10],
        ['10:10', 30],
        ['10:20', 99, 'BAD'],
        ['10:30', 50],
        ['11:00', 20],
      ],
    },
    VALVE: {
      stepped: true,
      points: [
        ['10:00', 0],
        ['10:15', 1],
        ['13:00', 0],
      ],
    },
    EMPTY: { points: [] },
    LATER: {
      points: [
        ['11:00', 1],
        ['14:00', 4],
      ],
    },
  })
})

const ask = (type: string, tag: string, details: object = {}, call: object = {}): Promise<Json> =>
  askOne([plant], type, `plant/${tag}`, details, { call })

describe('single points', () => {
  test('CURRENT_POINT is the last point at or before now, and strictly before `now` of the details', async () => {
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW')).dataPoint), '11:00 20')
    assert.equal(showPoint((await ask('CURRENT_POINT', 'LATER')).dataPoint), '11:00 1')
    const call = { now: '2026-01-15T11:00:00Z' }
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', {}, call)).dataPoint), '11:00 20')
    const strictly = { now: '2026-01-15T11:00:00Z' }
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', strictly)).dataPoint), '10:30 50')
    assert.equal(showPoint((await ask('CURRENT_POINT', 'FLOW', { now: null })).dataPoint), '11:00 20')
  })

  test('CURRENT_POINT gives a BAD point with its status', async () => {
    const bad = await ask('CURRENT_POINT', 'FLOW', {}, { now: '2026-01-15T10:25:00Z' })
    assert.equal(showPoint(bad.dataPoint), '10:20 99 BAD')
  })

  test('a point that does not exist is null and BAD at the time asked for', async () => {
    assert.equal(showPoint((await ask('CURRENT_POINT', 'EMPTY')).dataPoint), '12:00 null BAD')
    assert.equal(
      showPoint((await ask('POINT_BEFORE', 'FLOW', { at: '2026-01-15T10:00:00Z' })).dataPoint),
      '10:00 null BAD',
    )
  })

  const at = (type: string, time: string, tag = 'FLOW') => ask(type, tag, { at: `2026-01-15T${time}:00Z` })

  test('HISTORICAL_POINT interpolates linear tags, holds stepped ones, and leaves BAD points out', async () => {
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:05')).dataPoint), '10:05 20')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:20')).dataPoint), '10:20 40')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '10:14', 'VALVE')).dataPoint), '10:14 0')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '09:59')).dataPoint), '09:59 null BAD')
  })

  test('the last good point holds up to now, and points after now are seen and interpolated between', async () => {
    assert.equal(showPoint((await at('HISTORICAL_POINT', '12:00')).dataPoint), '12:00 20')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '12:01')).dataPoint), '12:01 null BAD')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '13:00', 'LATER')).dataPoint), '13:00 3')
    assert.equal(showPoint((await at('HISTORICAL_POINT', '14:01', 'LATER')).dataPoint), '14:01 null BAD')
  })

  test('the four POINT types find raw points, BAD ones too', async () => {
    assert.equal(showPoint((await at('POINT_BEFORE', '10:20')).dataPoint), '10:10 30')
    assert.equal(showPoint((await at('POINT_BEFORE_OR_AT', '10:20')).dataPoint), '10:20 99 BAD')
    assert.equal(showPoint((await at('POINT_AFTER', '10:20')).dataPoint), '10:30 50')
    assert.equal(showPoint((await at('POINT_AFTER_OR_AT', '10:20')).dataPoint), '10:20 99 BAD')
    assert.equal(showPoint((await at('POINT_AFTER', '09:00')).dataPoint), '10:00 10')
  })

  test('ADJACENT_POINTS has the raw point or the interpolated value at its time, null where there is none', async () => {
    const shown = async (time: string) => {
      const { before, at: exact, after } = await at('ADJACENT_POINTS', time)
      return [before, exact, after].map(showPoint)
    }
    assert.deepEqual(await shown('10:05'), ['10:00 10', '10:05 20', '10:10 30'])
    assert.deepEqual(await shown('10:10'), ['10:00 10', '10:10 30', '10:20 99 BAD'])
    assert.deepEqual(await shown('09:00'), ['none', 'none', '10:00 10'])
    assert.deepEqual(await shown('11:30'), ['11:00 20', '11:30 20', 'none'])
  })
})

describe('INTERPOLATED_POINTS', () => {
  const range = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:20:00Z' }

  test('gives exactly count points, the first at from and the last at to', async () => {
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, count: 5 })
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:05 20', '10:10 30', '10:15 35', '10:20 40'])
  })

  test('count 1 gives from, also where from is to', async () => {
    const one = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, count: 1 })
    assert.deepEqual(show(one.dataPoints), ['10:00 10'])
    const same = await ask('INTERPOLATED_POINTS', 'FLOW', { from: range.from, to: range.from, count: 1 })
    assert.deepEqual(show(same.dataPoints), ['10:00 10'])
    assert.match(
      (await ask('INTERPOLATED_POINTS', 'FLOW', { from: range.from, to: range.from })).error,
      /before to/,
    )
  })

  test('an interval gives from and every whole step up to and including to', async () => {
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '10m' })
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:10 30', '10:20 40'])
    assert.match(
      (await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '10m', count: 3 })).error,
      /not both/,
    )
    assert.match((await ask('INTERPOLATED_POINTS', 'FLOW', { ...range, interval: '0s' })).error, /above zero/)
  })

  test('more points than the range has microseconds repeat instants', async () => {
    const details = { from: '2026-01-15T10:00:00.000000Z', to: '2026-01-15T10:00:00.000002Z', count: 5 }
    const { dataPoints } = await ask('INTERPOLATED_POINTS', 'FLOW', details)
    assert.equal(dataPoints.length, 5)
    assert.equal(dataPoints[0].timestamp, '2026-01-15T10:00:00.000Z')
    assert.equal(dataPoints[4].timestamp, '2026-01-15T10:00:00.000002Z')
    assert.ok(dataPoints.every((point: Json) => point.status === 'OK'))
  })
})

describe('RAW_POINTS', () => {
  const raw = async (from: string, to: string, details: object = {}, tag = 'FLOW') => {
    const range = { from: `2026-01-15T${from}:00Z`, to: `2026-01-15T${to}:00Z` }
    return ask('RAW_POINTS', tag, { ...range, ...details })
  }

  test('gives [from, to) in time order with statuses', async () => {
    const { dataPoints, next } = await raw('10:00', '10:30')
    assert.deepEqual(show(dataPoints), ['10:00 10', '10:10 30', '10:20 99 BAD'])
    assert.equal(next, undefined)
  })

  test('boundaries include, exclude, reach out or interpolate', async () => {
    const shown = async (from: string, to: string, left: string, right: string, tag = 'FLOW') =>
      show((await raw(from, to, { leftBoundary: left, rightBoundary: right }, tag)).dataPoints)
    const inner = '10:10 30'
    assert.deepEqual(await shown('10:00', '10:20', 'INCLUDE', 'INCLUDE'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:00', '10:20', 'EXCLUDE', 'EXCLUDE'), [inner])
    assert.deepEqual(await shown('10:05', '10:15', 'NEAREST', 'NEAREST'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:00', '10:20', 'NEAREST', 'NEAREST'), ['10:00 10', inner, '10:20 99 BAD'])
    assert.deepEqual(await shown('10:05', '10:15', 'INTERPOLATED', 'INTERPOLATED'), [
      '10:05 20',
      inner,
      '10:15 35',
    ])
    assert.deepEqual(await shown('10:00', '10:20', 'INTERPOLATED', 'INTERPOLATED'), [
      '10:00 10',
      inner,
      '10:20 99 BAD',
    ])
    assert.deepEqual(await shown('09:00', '10:00', 'INTERPOLATED', 'INTERPOLATED'), ['10:00 10'])
    assert.deepEqual(await shown('11:30', '11:40', 'NEAREST', 'NEAREST'), ['11:00 20'])
    assert.deepEqual(await shown('10:05', '10:10', 'INTERPOLATED', 'EXCLUDE', 'VALVE'), ['10:05 0'])
  })

  test('desc gives the newest first, and maxPoints the last ones of the range', async () => {
    const { dataPoints, next } = await raw('10:00', '12:00', { order: 'desc', maxPoints: 2 })
    assert.deepEqual(show(dataPoints), ['11:00 20', '10:30 50'])
    assert.equal(typeof next, 'string')
    const reached = await raw('10:05', '10:15', {
      order: 'desc',
      leftBoundary: 'NEAREST',
      rightBoundary: 'INTERPOLATED',
    })
    assert.deepEqual(show(reached.dataPoints), ['10:15 35', '10:10 30', '10:00 10'])
  })

  for (const order of ['asc', 'desc']) {
    for (const [left, right] of [
      ['INCLUDE', 'EXCLUDE'],
      ['NEAREST', 'NEAREST'],
      ['INTERPOLATED', 'INTERPOLATED'],
    ]) {
      test(`pages join without gap or repeat: ${order}, ${left} and ${right}`, async () => {
        for (const tag of ['plant/FLOW', 'calc/ADD(plant/FLOW, plant/VALVE)']) {
          const details = {
            from: '2026-01-15T10:05:00Z',
            to: '2026-01-15T10:45:00Z',
            leftBoundary: left,
            rightBoundary: right,
            order,
          }
          const whole = await askOne([plant], 'RAW_POINTS', tag, details)
          assert.ok(whole.dataPoints.length >= 3)
          for (const maxPoints of [1, 2, 3]) {
            const pages: string[] = []
            let cursor: string | undefined
            do {
              const page = await askOne([plant], 'RAW_POINTS', tag, {
                ...(cursor ? { cursor } : details),
                maxPoints,
              })
              assert.ok(page.dataPoints.length >= 1 && page.dataPoints.length <= maxPoints)
              pages.push(...show(page.dataPoints))
              cursor = page.next
            } while (cursor !== undefined)
            assert.deepEqual(pages, show(whole.dataPoints))
          }
        }
      })
    }
  }

  test('a cursor goes on after the last point given while others write', async () => {
    const moving = await historianOf('moving', {
      T: {
        points: [
          ['10:00', 1],
          ['10:10', 2],
          ['10:20', 3],
        ],
      },
    })
    const details = {
      from: '2026-01-15T09:00:00Z',
      to: '2026-01-15T11:00:00Z',
      maxPoints: 2,
      leftBoundary: 'NEAREST',
    }
    const first = await askOne([moving], 'RAW_POINTS', 'moving/T', details)
    const written = await historianOf('moving', {
      T: {
        points: [
          ['09:30', 0],
          ['10:00', 1],
          ['10:05', 8],
          ['10:10', 2],
          ['10:15', 9],
          ['10:20', 3],
        ],
      },
    })
    const second = await askOne([written], 'RAW_POINTS', 'moving/T', { ...details, cursor: first.next })
    assert.deepEqual(show(first.dataPoints), ['10:00 1', '10:10 2'])
    assert.deepEqual(show(second.dataPoints), ['10:15 9', '10:20 3'])
  })

  test('a cursor that is made up, cut or of another tag is refused', async () => {
    const { next } = await raw('10:00', '12:00', { maxPoints: 1 })
    assert.equal((await ask('RAW_POINTS', 'VALVE', { cursor: next })).error, 'Invalid cursor')
    const wrong = ['', 'x', next.slice(1), `${next}A`, Buffer.from('[1,2]').toString('base64url')]
    for (const cursor of wrong)
      assert.equal((await ask('RAW_POINTS', 'FLOW', { cursor })).error, 'Invalid cursor')
  })
})

describe('aggregates', () => {
  const range = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T11:00:00Z' }

  test('AGGREGATED_POINTS gives all of them over [from, to)', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'FLOW', range)
    const [{ timeAvg, stdDev, ...rest }] = aggregates
    assert.deepEqual(rest, {
      from: '2026-01-15T10:00:00.000Z',
      to: '2026-01-15T11:00:00.000Z',
      min: 10,
      max: 50,
      avg: 30,
      median: 30,
      variance: 400,
      first: 10,
      last: 50,
      sum: 90,
      range: 40,
      count: 4,
      numGood: 3,
      numBad: 1,
    })
    assert.equal(stdDev, 20)
    // 10 min at 20 on average, 20 min at 40, 30 min at 35.
    assert.ok(Math.abs(timeAvg - (10 * 20 + 20 * 40 + 30 * 35) / 60) < 1e-9)
  })

  test('what was not asked for is null, and names take any case', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: ['max', 'NUMBAD'] })
    assert.equal(aggregates[0].max, 50)
    assert.equal(aggregates[0].numBad, 1)
    assert.equal(aggregates[0].count, null)
    assert.match((await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: [] })).error, /at least one/)
    assert.match((await ask('AGGREGATED_POINTS', 'FLOW', { ...range, aggregates: ['MODE'] })).error, /MEDIAN/)
  })

  test('an empty window has counts of 0 and nothing else', async () => {
    const { aggregates } = await ask('AGGREGATED_POINTS', 'EMPTY', range)
    const { from: _from, to: _to, count, numGood, numBad, ...rest } = aggregates[0]
    assert.deepEqual([count, numGood, numBad], [0, 0, 0])
    assert.ok(Object.values(rest).every((value) => value === null))
  })

  test('MULTIPLE_AGGREGATED_POINTS splits by count or by calendar interval', async () => {
    const halves = await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', {
      ...range,
      count: 2,
      aggregates: ['COUNT'],
    })
    assert.deepEqual(
      halves.aggregates.map((window: Json) => [window.from, window.count]),
      [
        ['2026-01-15T10:00:00.000Z', 3],
        ['2026-01-15T10:30:00.000Z', 1],
      ],
    )
    const details = {
      from: '2026-01-15T10:15:00Z',
      to: '2026-01-15T11:30:00Z',
      interval: '30m',
      aggregates: ['COUNT'],
    }
    const steps = await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', details)
    assert.deepEqual(
      steps.aggregates.map((window: Json) => `${window.from.slice(11, 16)} ${window.count}`),
      ['10:15 1', '10:30 1', '11:00 1'],
    )
    assert.match((await ask('MULTIPLE_AGGREGATED_POINTS', 'FLOW', range)).error, /count or interval/)
  })
})

describe('the call', () => {
  const current = { type: 'CURRENT_POINT', tag: 'plant/FLOW' }

  test('answers each label under its own name, whatever the name is', async () => {
    const labels = ['__proto__', 'constructor', '', '"', '\n', '😀', 'toString', '1', '\ud800']
    const requests = Object.fromEntries(labels.map((label) => [label, current]))
    const body = JSON.parse(
      JSON.stringify({ requests }).replace(
        '{"requests":{',
        `{"requests":{"__proto__":${JSON.stringify(current)},`,
      ),
    )
    const { json } = await askBody([plant], body)
    for (const label of labels) {
      assert.ok(Object.hasOwn(json.results, label), JSON.stringify(label))
      assert.equal(json.results[label].dataPoint.value, 20)
    }
    assert.deepEqual(json.errors, {})
    assert.equal(json.issues, undefined)
  })

  test('an empty `requests` has empty results', async () => {
    const { json, answer } = await askBody([plant], { requests: {} })
    assert.deepEqual(json, { results: {}, errors: {}, now: '2026-01-15T12:00:00.000Z' })
    assert.equal(answer.outcome, 'executed')
  })

  test('what is wrong with the whole call refuses it', async () => {
    const wrong: readonly (readonly [body: unknown, input: string])[] = [
      [null, 'null'],
      [[], '[]'],
      ['x', 'x'],
      [{}, 'null'],
      [{ requests: null }, 'null'],
      [{ requests: [] }, '[]'],
      [{ requests: {}, now: 'soon' }, 'soon'],
      [{ requests: {}, timeZone: 'Mars/Olympus' }, 'Mars/Olympus'],
      [{ requests: {}, timeZone: 5 }, '5'],
      [{ requests: {}, explain: 'yes' }, 'yes'],
      [{ requests: {}, format: 'rows' }, 'rows'],
    ]
    for (const [body, input] of wrong) {
      const { answer, json } = await askBody([plant], body)
      assert.equal(answer.outcome, 'refused', JSON.stringify(body))
      assert.deepEqual(json.errors, {})
      assert.ok(json.message.length > 0)
      assert.deepEqual(
        json.issues.map(({ message, input }: Json) => ({ message, input })),
        [{ message: json.message, input }],
      )
    }
  })

  test('an anchor where there are no windows is an error, and is not said to be ignored', async () => {
    const details = { from: 'today', anchor: '06:00', whole: true }
    const requests = { a: { type: 'AGGREGATED_POINTS', tag: 'plant/FLOW', details } }
    const { json } = await askBody([plant], { requests })
    assert.match(json.errors.a, /^Invalid anchor 06:00 in the details of AGGREGATED_POINTS: no anchor, /)
    assert.deepEqual(json.warnings, ['Unknown field whole in the details of AGGREGATED_POINTS was ignored'])
  })

  test('a to up to the year 9999 is the end of all time, and nothing else is', async () => {
    const range = (from: unknown, to: unknown, more = {}) =>
      askBody([plant], {
        requests: { a: { type: 'RAW_POINTS', tag: 'plant/FLOW', details: { from, to, ...more } } },
      })
    const from = '2026-01-15T10:00:00Z'
    for (const to of [
      '2200-01-01T00:00:00Z',
      '9999-12-31',
      '9999-12-31T23:59:59.999+14:00',
      '9999-12-31T23:59:59[Europe/Oslo]',
      '2200-W01',
      7_258_118_400_000,
      253_402_300_799_999,
      '253402300799999',
    ]) {
      const { json } = await range(from, to)
      assert.equal(json.results.a?.dataPoints.length, 5, `${to} ${json.errors.a}`)
    }
    for (const [start, to] of [
      [from, '9999-13-01'],
      [from, 253_402_300_800_000],
      [from, '10000-01-01'],
      ['2200-01-01', '9999-01-01'],
      [from, 1e300],
    ]) {
      const { json } = await range(start, to)
      assert.equal(json.results.a, undefined, String(to))
    }
    for (const type of ['AGGREGATED_POINTS', 'INTERPOLATED_POINTS', 'MULTIPLE_AGGREGATED_POINTS']) {
      const details = { from, to: '9999-12-31', count: 3 }
      if (type === 'AGGREGATED_POINTS') Reflect.deleteProperty(details, 'count')
      const { json } = await askBody([plant], { requests: { a: { type, tag: 'plant/FLOW', details } } })
      assert.deepEqual(json.errors, {}, type)
      assert.match(JSON.stringify(json.results.a), /"2200-01-01T00:00:00.000Z"/)
    }
    const first = await range(from, '9999-12-31', { maxPoints: 2 })
    const rest = await range(from, '9999-12-31', { cursor: first.json.next.a })
    assert.equal(rest.json.results.a.dataPoints.length, 3)
    const at = await askBody([plant], {
      requests: { a: { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details: { at: '9999-12-31' } } },
    })
    assert.match(at.json.errors.a, /Cannot parse type 9999-12-31/)
  })

  test('a bug in reading the head is no answer: it is thrown for the log', () => {
    const body = {
      get requests(): never {
        throw new RangeError('a bug')
      },
    }
    return assert.rejects(askBody([plant], body), RangeError)
  })

  test('a wrong label has one sentence and its issue, and the others are answered', async () => {
    const at = { at: 'now' }
    const wrong: Readonly<Record<string, readonly [object | null, RegExp, string]>> = {
      type: [
        { type: 'CURRENT', tag: 'plant/FLOW' },
        /Unknown request type CURRENT: one of CURRENT_POINT/,
        'UNKNOWN_REQUEST_TYPE',
      ],
      noType: [{ tag: 'plant/FLOW' }, /Unknown request type null/, 'UNKNOWN_REQUEST_TYPE'],
      noTag: [{ type: 'CURRENT_POINT' }, /Invalid tag null/, 'INVALID_REQUEST'],
      notObject: [null, /Invalid request null/, 'INVALID_REQUEST'],
      missing: [{ type: 'HISTORICAL_POINT', tag: 'plant/FLOW' }, /need at/, 'MISSING_DETAIL'],
      time: [
        { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details: { at: 'soon' } },
        /Cannot parse type soon/,
        'INVALID_TIME',
      ],
      tag: [{ ...current, tag: 'plant/NOPE' }, /^Tag plant\/NOPE does not exist$/, 'TAG_NOT_FOUND'],
      historian: [
        { ...current, tag: 'other/FLOW' },
        /^Historian other for tag FLOW does not exist$/,
        'HISTORIAN_NOT_FOUND',
      ],
      address: [{ ...current, tag: 'FLOW' }, /^Invalid tag address FLOW/, 'INVALID_TAG_ADDRESS'],
      calc: [
        { ...current, tag: 'calc/ADD(plant/FLOW' },
        /^Cannot parse calculation: .* at column 20/,
        'CALCULATION_SYNTAX',
      ],
      inside: [
        { ...current, tag: 'calc/ADD(plant/FLOW, plant/NOPE)' },
        /^Tag plant\/NOPE does not exist$/,
        'TAG_NOT_FOUND',
      ],
      details: [{ ...current, details: 5 }, /Invalid details 5/, 'INVALID_REQUEST'],
      count: [
        { type: 'INTERPOLATED_POINTS', tag: 'plant/FLOW', details: { from: 1, to: 2, count: 0 } },
        /Invalid count 0 in the details of INTERPOLATED_POINTS: a whole number of at least 1/,
        'INVALID_DETAIL',
      ],
      coerced: [
        { type: 'RAW_POINTS', tag: 'plant/FLOW', details: { from: 1, to: 2, maxPoints: '5' } },
        /Invalid maxPoints 5/,
        'INVALID_DETAIL',
      ],
      order: [
        { type: 'RAW_POINTS', tag: 'plant/FLOW', details: { from: 2, to: 1 } },
        /Invalid from 2 in the details of RAW_POINTS: a time before to is expected/,
        'INVALID_DETAIL',
      ],
    }
    const requests = Object.fromEntries(Object.entries(wrong).map(([label, [request]]) => [label, request]))
    const { json, answer } = await askBody([plant], {
      requests: { ...requests, right: { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details: at } },
    })
    assert.equal(answer.outcome, 'executed')
    assert.deepEqual(Object.keys(json.results), ['right'])
    for (const [label, [, sentence, code]] of Object.entries(wrong)) {
      assert.match(json.errors[label], sentence)
      const issue = json.issues.find((entry: Json) => entry.label === label)
      assert.equal(issue.code, code, label)
      assert.equal(issue.message, json.errors[label])
    }
  })

  test('unknown fields are ignored and named', async () => {
    const details = { from: '2026-01-15T10:00:00Z', to: 'now', maxpoints: 1 }
    const requests = {
      a: { type: 'RAW_POINTS', tag: 'plant/FLOW', details },
      b: { type: 'RAW_POINTS', tag: 'plant/FLOW', details },
    }
    const { json } = await askBody([plant], { requests, labels: 3 })
    assert.equal(json.results.a.dataPoints.length, 5)
    assert.deepEqual(json.warnings, [
      'Unknown field labels in the call was ignored',
      'Unknown field maxpoints in the details of RAW_POINTS was ignored; maxPoints was meant?',
    ])
  })

  test('timestamps are written in the zone of the call', async () => {
    const { json } = await askBody([plant], {
      timeZone: 'Europe/Oslo',
      now: '2023-09-25T17:29:04.446',
      requests: {},
    })
    assert.equal(json.now, '2023-09-25T17:29:04.446+02:00')
  })

  test('columns hold milliseconds, values and, when one is not OK, statuses', async () => {
    const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:30:00Z' }
    const ask = (tag: string) =>
      askBody([plant], { format: 'columns', requests: { a: { type: 'RAW_POINTS', tag, details } } })
    const start = Date.UTC(2026, 0, 15, 10)
    assert.deepEqual((await ask('plant/FLOW')).json.results.a.dataPoints, {
      timestamps: [start, start + 600_000, start + 1_200_000],
      values: [10, 30, 99],
      statuses: ['OK', 'OK', 'BAD'],
      unit: 'ms',
    })
    assert.deepEqual((await ask('plant/VALVE')).json.results.a.dataPoints, {
      timestamps: [start, start + 900_000],
      values: [0, 1],
      unit: 'ms',
    })
  })
})

describe('limits', () => {
  const raw = (maxPoints?: number, tag = 'plant/FLOW') => ({
    type: 'RAW_POINTS',
    tag,
    details: { from: '2026-01-15T00:00:00Z', to: 'now', ...(maxPoints === undefined ? {} : { maxPoints }) },
  })

  const breach = async (limits: object, requests: object) => {
    const { answer, json } = await askBody([plant], { requests }, { limits })
    assert.equal(answer.outcome, 'limit')
    assert.deepEqual(json.results, {})
    for (const label of Object.keys(requests)) assert.equal(json.errors[label], json.message)
    assert.equal(json.issues.length, Object.keys(requests).length)
    return json.message
  }

  test('requested points count maxPoints and count, with their defaults', async () => {
    const message = await breach({ requestedPoints: 1999 }, { a: raw(), b: raw(1000, 'plant/VALVE') })
    assert.equal(
      message,
      'The requested points limit is 1999, and this call requests 2000 points; at most 999 points in label "a" would be allowed',
    )
    const { answer } = await askBody(
      [plant],
      { requests: { a: raw(), b: raw(1000) } },
      { limits: { requestedPoints: 2000 } },
    )
    assert.equal(answer.outcome, 'executed')
  })

  test('a count beyond all sense is refused before anything is made for it', async () => {
    const details = { from: '2026-01-01', to: '2026-01-02', count: Number.MAX_SAFE_INTEGER }
    await breach({}, { a: { type: 'INTERPOLATED_POINTS', tag: 'plant/FLOW', details } })
    const steps = { from: '1700-01-01', to: '2199-01-01', interval: '1ms' }
    await breach({}, { a: { type: 'INTERPOLATED_POINTS', tag: 'plant/FLOW', details: steps } })
    await breach({}, { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'plant/FLOW', details: steps } })
  })

  test('effective tags are distinct stored tags over all labels', async () => {
    const a = { type: 'CURRENT_POINT', tag: 'calc/ADD(plant/FLOW, calc/SUB(plant/VALVE, plant/LATER), 1)' }
    const b = { type: 'CURRENT_POINT', tag: 'plant/FLOW' }
    assert.match(
      await breach({ effectiveTags: 2 }, { a, b }),
      /effective tags limit is 2, and this call needs 3 tags/,
    )
    const { answer } = await askBody([plant], { requests: { a, b } }, { limits: { effectiveTags: 3 } })
    assert.equal(answer.outcome, 'executed')
  })

  test('historian load is what will be fetched, not what could be asked for', async () => {
    const { answer } = await askBody(
      [plant],
      { requests: { a: raw(90_000) } },
      { limits: { historianLoad: 20 } },
    )
    assert.equal(answer.outcome, 'executed')
    assert.match(await breach({ historianLoad: 3 }, { a: raw(90_000) }), /historian load limit is 3 points/)
  })

  test('when only MEDIAN breaks the load, the sentence says so', async () => {
    const many = await historianOf('plant', {
      FLOW: {
        points: Array.from({ length: 50 }, (_, i) => [`10:${String(i).padStart(2, '0')}`, i] as const),
      },
    })
    const pushing = withAggregates(many)
    const details = { from: '2026-01-15T10:00:00Z', to: '2026-01-15T11:00:00Z' }
    const requests = { a: { type: 'AGGREGATED_POINTS', tag: 'plant/FLOW', details } }
    const { json } = await askBody([pushing], { requests }, { limits: { historianLoad: 20 } })
    assert.match(json.message, /without MEDIAN it would be allowed/)
  })

  test('explain says what a call needs, allowed or not, and fetches nothing', async () => {
    const watched = countingReads(plant)
    const requests = {
      a: raw(1000),
      b: { type: 'CURRENT_POINT', tag: 'calc/ADD(plant/FLOW, plant/VALVE)' },
      wrong: { type: 'CURRENT_POINT', tag: 'plant/NOPE' },
    }
    const { answer, json } = await askBody(
      [watched.historian],
      { explain: true, requests },
      { limits: { historianLoad: 3 } },
    )
    assert.equal(answer.outcome, 'explained')
    assert.deepEqual(json.results, {})
    assert.equal(json.errors.wrong, 'Tag plant/NOPE does not exist')
    const { explain } = json
    assert.equal(explain.allowed, false)
    assert.equal(explain.reasons.length, 1)
    assert.deepEqual(explain.requests.b.tags, ['plant/FLOW', 'plant/VALVE'])
    assert.equal(explain.requests.a.requestedPoints, 1000)
    assert.ok(explain.requests.a.load >= 4 && explain.requests.a.load <= 20)
    assert.equal(explain.totals.effectiveTags, 2)
    assert.equal(explain.limits.load, 3)
    assert.equal(watched.reads(), 0)
  })
})

describe('one call, one historian', () => {
  test('equal reads are made once, and a hundred labels are one read', async () => {
    const watched = countingReads(plant)
    const requests = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `l${i}`,
        { type: 'CURRENT_POINT', tag: i % 2 ? 'plant/FLOW' : 'plant/VALVE' },
      ]),
    )
    const { answer } = await askBody([watched.historian], { requests })
    assert.equal(watched.reads(), 1)
    assert.equal(answer.statistics.points, 2)
  })

  test('a historian that fails takes only its own labels with it', async () => {
    const reason = new TidemarkError('HISTORIAN_UNAVAILABLE', {
      historian: 'broken',
      reason: 'connection refused',
    })
    const broken = failing(await historianOf('broken', { T: { points: [['10:00', 1]] } }), reason)
    const requests = {
      bad: { type: 'CURRENT_POINT', tag: 'broken/T' },
      mixed: { type: 'CURRENT_POINT', tag: 'calc/ADD(broken/T, plant/FLOW)' },
      good: { type: 'CURRENT_POINT', tag: 'plant/FLOW' },
    }
    const { json } = await askBody([plant, broken], { requests })
    assert.deepEqual(Object.keys(json.results), ['good'])
    assert.equal(json.errors.bad, 'Historian broken could not be reached: connection refused')
    assert.equal(json.errors.mixed, json.errors.bad)
  })

  test('a damaged tag does not take the labels of others with it', async () => {
    const damaged = new TidemarkError('STORAGE_CORRUPT', { historian: 'plant', reason: 'a block of VALVE' })
    const historian = wrap(plant, {
      readPoints: async (queries, context) => {
        if (queries.some((query) => query.tag === 'VALVE')) throw damaged
        return plant.readPoints(queries, context)
      },
    })
    const requests = {
      damaged: { type: 'CURRENT_POINT', tag: 'plant/VALVE' },
      intact: { type: 'CURRENT_POINT', tag: 'plant/FLOW' },
    }
    const { json } = await askBody([historian], { requests })
    assert.equal(json.results.intact.dataPoint.value, 20)
    assert.match(json.errors.damaged, /damaged/)
  })

  test('past the deadline the whole call fails at once, and the historian is told to stop', async (t) => {
    let stopped: unknown
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const slow = wrap(plant, {
      readPoints: (_, { signal }: CallContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = signal.reason
            reject(signal.reason)
          })
          setImmediate(() => t.mock.timers.tick(60_000))
        }),
    })
    const requests = {
      a: { type: 'CURRENT_POINT', tag: 'plant/FLOW' },
      b: { type: 'CURRENT_POINT', tag: 'plant/NOPE' },
    }
    const { answer, json } = await askBody([slow], { requests }, { limits: { deadlineSeconds: 60 } })
    assert.equal(answer.outcome, 'deadline')
    assert.deepEqual(json.results, {})
    assert.equal(json.errors.a, json.message)
    assert.equal(json.errors.b, json.message)
    assert.ok(stopped instanceof TidemarkError && stopped.code === 'DEADLINE_EXCEEDED')
  })

  test('a client that goes away cancels its call, also where a historian does not listen', async () => {
    const deaf = wrap(plant, { readPoints: () => new Promise(() => {}) })
    const client = new AbortController()
    const asked = askBody(
      [deaf],
      { requests: { a: { type: 'CURRENT_POINT', tag: 'plant/FLOW' } } },
      { signal: client.signal },
    )
    setImmediate(() => client.abort())
    await assert.rejects(
      asked,
      (error: unknown) => error instanceof TidemarkError && error.code === 'CANCELLED',
    )
  })

  test('now is the wall clock when the call names none', async () => {
    const { json } = await askBody([plant], { requests: {} }, { now: NOON })
    assert.equal(json.now, '2026-01-15T12:00:00.000Z')
  })
})

/** The same historian with some methods replaced. */
function wrap(historian: Historian, replaced: Partial<Historian>): Historian {
  return new Proxy(historian, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof Historian]
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const READS = [
  'readPoints',
  'readRanges',
  'readBoundingValues',
  'readAggregates',
  'readInterpolated',
  'readIntegrals',
]

function countingReads(historian: Historian): { historian: Historian; reads: () => number } {
  let reads = 0
  const counting = new Proxy(historian, {
    get: (target, name) => {
      if (READS.includes(String(name))) reads++
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { historian: counting, reads: () => reads }
}

function failing(historian: Historian, reason: TidemarkError): Historian {
  return wrap(historian, {
    readPoints: () => Promise.reject(reason),
    readBoundingValues: () => Promise.reject(reason),
  })
}

/** Declares every aggregate but MEDIAN as pushed down; only planned with, never read. */
function withAggregates(historian: Historian): Historian {
  const aggregates = ['min', 'max', 'avg', 'variance', 'stdDev', 'first', 'last', 'sum', 'range'] as const
  const counts = ['count', 'numGood', 'numBad', 'timeAvg'] as const
  return wrap(historian, {
    capabilities: { ...historian.capabilities, aggregates: [...aggregates, ...counts] },
  })
}
