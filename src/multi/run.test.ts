import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf, type Json, NOON } from '../../test/multi-harness.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import { countingReads, readPlant, wrap } from './read-plant.fixture.ts'

let plant: MemoryHistorian
before(async () => {
  plant = await readPlant()
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

function failing(historian: Historian, reason: TidemarkError): Historian {
  return wrap(historian, {
    readPoints: () => Promise.reject(reason),
    readBoundingValues: () => Promise.reject(reason),
  })
}
