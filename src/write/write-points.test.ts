import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents, context, historianWith, NOW, pointsOf, writeCall } from '../../test/write/call.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { makeChange } from '../historian/remote/change.ts'
import { PointsReader } from './body/points-reader.ts'
import { writeBody, writePoints } from './write-points.ts'

const DONE = { outcome: 'done', body: { message: 'All points written!', errors: [] } }
const AT = '2026-01-15T10:00:00Z'
const AT_US = Date.UTC(2026, 0, 15, 10) * 1000
const POINT = { timestamp: AT, value: 1 }

async function write(body: unknown, ...historians: readonly Historian[]) {
  const all = historians.length > 0 ? historians : [await historianWith('local', ['FLOW'])]
  return writePoints(body, writeCall(all))
}

/** The sentences of a request with issues, which must be twins of the issues. */
async function issuesOf(body: unknown, ...historians: readonly Historian[]): Promise<readonly string[]> {
  const result = await write(body, ...historians)
  assert.equal(result.outcome, 'issues')
  assert.equal(result.body.message, 'There were errors in the request')
  assert.deepEqual(
    result.body.issues!.map((issue) => issue.message),
    result.body.errors,
  )
  return result.body.errors
}

async function refusalOf(body: unknown): Promise<string> {
  const historian = await historianWith('local', ['FLOW'])
  const before = await contents(historian)
  const result = await write(body, historian)
  assert.equal(result.outcome, 'refused')
  assert.deepEqual(result.body.errors, [result.body.message])
  const [{ input = '' } = {}] = result.body.issues!
  assert.ok(input !== '' && result.body.message.includes(input))
  assert.deepEqual(await contents(historian), before)
  return result.body.message
}

describe('names of states as values', () => {
  const STATES = { '0': 'Closed', '1': 'Open', '-1.5': 'Ætt' }

  async function valves(): Promise<Historian> {
    const local = await historianWith('local', ['VALVE', 'FLOW'])
    const metadata = { description: null, units: null, stepped: false, states: STATES }
    await local.putTags([{ name: 'VALVE', metadata }], 'update', context())
    return local
  }

  test('stand for their values, in rows and columns, in short bodies and in long ones', async () => {
    const rows = [
      { timestamp: 1, value: 'Open' },
      { timestamp: 2, value: 0 },
      { timestamp: 3, value: 'Ætt', status: 'BAD' },
    ]
    const columns = { unit: 's', timestamps: [4, 5], values: ['Closed', 'Open'] }
    const expected = [
      [1e6, 1, 0],
      [2e6, 0, 0],
      [3e6, -1.5, 1],
    ]
    const local = await valves()
    assert.deepEqual(await write({ points: { 'local/VALVE': rows } }, local), DONE)
    assert.deepEqual(await pointsOf(local, 'VALVE'), expected)
    assert.deepEqual(await write({ points: { 'local/VALVE': columns } }, local), DONE)
    assert.deepEqual((await pointsOf(local, 'VALVE')).slice(3), [
      [4e6, 0, 0],
      [5e6, 1, 0],
    ])
    for (const count of [3, 30_000]) {
      const long = Array.from({ length: count }, (_, i) => ({
        timestamp: i,
        value: i % 2 === 0 ? 'Closed' : 'Open',
      }))
      const bytes = Buffer.from(JSON.stringify({ points: { 'local/FLOW': [POINT], 'local/VALVE': long } }))
      const other = await valves()
      const done = await writeBody(
        bytes,
        writeCall([other]),
        new PointsReader(),
        () => {},
        () => {},
      )
      assert.deepEqual(done, DONE)
      const written = await pointsOf(other, 'VALVE')
      assert.equal(written.length, count)
      assert.ok(written.every(([time, value]) => value === (time! / 1e6) % 2))
    }
  })

  test('one that is unknown is an issue that lists the names, in its place among the others', async () => {
    const points = {
      'local/FLOW': [{ timestamp: 1, value: 'Open' }],
      'local/VALVE': [
        { timestamp: 1, value: 'open' },
        { timestamp: 'no time', value: 'Open' },
        { timestamp: 1, value: null },
        { timestamp: 1, value: '1' },
      ],
    }
    const local = await valves()
    const names = 'a finite number or one of Closed, Open, Ætt is expected'
    const { body } = await write({ points }, local)
    assert.deepEqual(body.errors, [
      'Invalid value Open for tag local/FLOW: a finite number is expected',
      `Invalid value open for tag local/VALVE: ${names}`,
      'Error: Cannot parse type no time as time input for tag local/VALVE',
      'Invalid value null for tag local/VALVE: a finite number is expected',
      `Invalid value 1 for tag local/VALVE: ${names}`,
    ])
    assert.equal(body.issues![1]!.code, 'INVALID_STATE')
    assert.equal(body.issues![1]!.index, 0)
    assert.deepEqual(await pointsOf(local, 'VALVE'), [])
  })

  test('a new tag, and one of a historian that does not answer, has none', async () => {
    const points = { 'local/NEW': [{ timestamp: 1, value: 'Open' }] }
    assert.deepEqual(await issuesOf({ points, createTags: true }), [
      'Invalid value Open for tag local/NEW: a finite number is expected',
    ])
    const local = await valves()
    local.findTags = () => {
      throw new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'local', reason: 'it is away' })
    }
    const { outcome } = await write({ points: { 'local/VALVE': [{ timestamp: 1, value: 'Open' }] } }, local)
    assert.equal(outcome, 'unavailable')
  })

  test('a long list of names is cut', async () => {
    const local = await historianWith('local', ['STEP'])
    const states = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [i, `step ${i}`]))
    const metadata = { description: null, units: null, stepped: true, states }
    await local.putTags([{ name: 'STEP', metadata }], 'update', context())
    const [sentence] = await issuesOf({ points: { 'local/STEP': [{ timestamp: 1, value: 'x' }] } }, local)
    assert.match(sentence!, /one of step 0, .*, step 19 and 5 more is expected$/)
  })
})

describe('what is written', () => {
  test('points in any form of time, with and without status, in any order, the last of a time winning', async () => {
    const local = await historianWith('local', ['FLOW'])
    const points = [
      { timestamp: 'now', value: 3, status: null },
      { timestamp: AT, value: 1, status: 'BAD' },
      { timestamp: '2026-01-15T11:00:00', value: 2, status: 'OK' },
      { timestamp: 1768471200.000001, value: -0.5 },
    ]
    assert.deepEqual(await write({ points: { 'local/FLOW': points } }, local), DONE)
    // 11:00 in Oslo is 10:00Z, so that the second is written over by the third.
    assert.deepEqual(await pointsOf(local, 'FLOW'), [
      [AT_US, 2, 0],
      [AT_US + 1, -0.5, 0],
      [NOW, 3, 0],
    ])
  })

  test('now and timeZone of the request are those of its times', async () => {
    const local = await historianWith('local', ['FLOW'])
    const points = { 'local/FLOW': [{ timestamp: 'today', value: 1 }] }
    const body = { points, now: '2026-07-02T01:00:00Z', timeZone: 'America/New_York' }
    assert.deepEqual(await write(body, local), DONE)
    assert.deepEqual(await pointsOf(local, 'FLOW'), [[Date.UTC(2026, 6, 1, 4) * 1000, 1, 0]])
  })

  test('columns are the same points', async () => {
    for (const columns of [
      { timestamps: [AT, 'now'], values: [1, 2], statuses: ['BAD', null] },
      { timestamps: [AT_US / 1000, NOW / 1000], values: [1, 2], statuses: ['BAD', 'OK'], unit: 'ms' },
      { timestamps: [AT_US, NOW], values: [1, 2], statuses: ['BAD', 'OK'], unit: 'us' },
      { timestamps: [AT_US / 1e6, NOW / 1e6], values: [1, 2], statuses: ['BAD', 'OK'], unit: 's' },
      { timestamps: [AT_US / 1e6, 'now'], values: [1, 2], statuses: ['BAD', 'OK'], unit: null },
    ]) {
      const local = await historianWith('local', ['FLOW'])
      assert.deepEqual(await write({ points: { 'local/FLOW': columns } }, local), DONE)
      assert.deepEqual(await pointsOf(local, 'FLOW'), [
        [AT_US, 1, 1],
        [NOW, 2, 0],
      ])
    }
  })

  test('with a unit small numbers are not taken for seconds', async () => {
    const local = await historianWith('local', ['FLOW'])
    const columns = { timestamps: [1], values: [5], statuses: null, unit: 'ms' }
    await write({ points: { 'local/FLOW': columns } }, local)
    assert.deepEqual(await pointsOf(local, 'FLOW'), [[1_000, 5, 0]])
  })

  test('a point that was read is written back without a warning, in both forms', async () => {
    const points = [{ timestamp: '2026-01-15T11:00:00.000+01:00', value: 1, status: 'OK' }]
    const columns = { timestamps: [1768471200000], values: [1], unit: 'ms' }
    assert.deepEqual(await write({ points: { 'local/FLOW': points } }), DONE)
    assert.deepEqual(await write({ points: { 'local/FLOW': columns } }), DONE)
    // Those of a tag with states have the names beside the values.
    const named = [
      { timestamp: '2026-01-15T11:00:00.000+01:00', value: 1, status: 'OK', enumString: 'Open' },
      { timestamp: '2026-01-15T11:01:00.000+01:00', value: 7, status: 'BAD', enumString: null },
    ]
    const namedColumns = { ...columns, states: ['Open'] }
    assert.deepEqual(await write({ points: { 'local/FLOW': named } }), DONE)
    assert.deepEqual(await write({ points: { 'local/FLOW': namedColumns } }), DONE)
  })

  test('createTags makes missing tags without description and units, also for an empty array', async () => {
    const local = await historianWith('local', ['FLOW'])
    const body = { createTags: true, points: { 'local/a/b (c)': [], 'local/ü': [POINT], 'local/FLOW': [] } }
    assert.deepEqual(await write(body, local), DONE)
    const made = { description: null, units: null, stepped: false }
    assert.deepEqual(
      { ...(await contents(local)) },
      {
        FLOW: { ...made, points: [] },
        'a/b (c)': { ...made, points: [] },
        ü: { ...made, points: [[AT_US, 1, 0]] },
      },
    )
  })

  test('nothing to write is written', async () => {
    assert.deepEqual(await write({ points: {} }), DONE)
  })
})

describe('issues', () => {
  const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['an unknown historian', { 'old/FLOW': [POINT] }, ['Historian old for tag FLOW does not exist']],
    ['a read-only historian', { 'archive/FLOW': [] }, ['Historian archive for tag FLOW is not writable']],
    ['a missing tag', { 'local/a/b': [POINT] }, ['Tag local/a/b does not exist']],
    [
      'virtual historians',
      { 'calc/ADD(a/b, 1)': [], 'constants/5': [], 'aliases/x': [] },
      [
        'Historian calc for tag ADD(a/b, 1) is not writable',
        'Historian constants for tag 5 is not writable',
        'Historian aliases for tag x is not writable',
      ],
    ],
    [
      'timestamps',
      { 'local/FLOW': [{ ...POINT, timestamp: 'soon' }, { ...POINT, timestamp: [1] }, { value: 1 }] },
      [
        'Error: Cannot parse type soon as time input for tag local/FLOW',
        'Error: Cannot parse type [1] as time input for tag local/FLOW',
        'Error: Cannot parse type null as time input for tag local/FLOW',
      ],
    ],
    [
      'values',
      { 'local/FLOW': ['5', null, true, {}].map((value) => ({ timestamp: AT, value })) },
      ['5', 'null', 'true', '{}'].map(
        (input) => `Invalid value ${input} for tag local/FLOW: a finite number is expected`,
      ),
    ],
    [
      'statuses',
      { 'local/FLOW': ['ok', '', 0].map((status) => ({ ...POINT, status })) },
      ['ok', '', '0'].map((input) => `Invalid status ${input} for tag local/FLOW: OK or BAD is expected`),
    ],
    [
      'points',
      { 'local/FLOW': [5, null, [AT, 1], 'x'] },
      ['5', 'null', `["${AT}",1]`, 'x'].map(
        (input) =>
          `Invalid point ${input} for tag local/FLOW: an object with timestamp and value is expected`,
      ),
    ],
    [
      'addresses',
      Object.fromEntries(
        ['', 'FLOW', '/x', 'local/', 'a b/x', 'local/a\nb', 'local/\ud800', '__proto__'].map((a) => [a, []]),
      ),
      ['', 'FLOW', '/x', 'local/', 'a b/x', 'local/a\nb', 'local/\ud800', '__proto__'].map(
        (address) => `Invalid tag address ${address}: <historian_name>/<tag_name> is expected`,
      ),
    ],
    [
      'points of a tag that are neither array nor columns',
      { 'local/FLOW': 5 },
      ['Invalid points 5 for tag local/FLOW: an array of points or an object of columns is expected'],
    ],
    [
      'columns of different length',
      { 'local/FLOW': { timestamps: [1], values: [] } },
      [
        'Invalid points {"timestamps":[1],"values":[]} for tag local/FLOW: ' +
          'an object of equally long arrays timestamps, values and, if any, statuses is expected',
      ],
    ],
    [
      'an unknown unit',
      { 'local/FLOW': { timestamps: [1], values: [1], unit: 'ns' } },
      ['Invalid unit ns for tag local/FLOW: s, ms or us is expected'],
    ],
    [
      'what else is wrong beside an unknown unit',
      { 'local/FLOW': { timestamps: [1e300, 'x'], values: ['1', 1], statuses: ['OK', 'bad'], unit: 'ns' } },
      [
        'Invalid unit ns for tag local/FLOW: s, ms or us is expected',
        'Invalid value 1 for tag local/FLOW: a finite number is expected',
        'Error: Cannot parse type x as time input for tag local/FLOW',
        'Invalid status bad for tag local/FLOW: OK or BAD is expected',
      ],
    ],
    [
      'an unknown unit of columns of different length',
      { 'local/FLOW': { timestamps: [1], values: [], unit: 'ns' } },
      [
        'Invalid unit ns for tag local/FLOW: s, ms or us is expected',
        'Invalid points {"timestamps":[1],"values":[],"unit":"ns"} for tag local/FLOW: ' +
          'an object of equally long arrays timestamps, values and, if any, statuses is expected',
      ],
    ],
    [
      'points in columns',
      { 'local/FLOW': { timestamps: [null, 1, 1e300], values: [1, '1', 1], statuses: ['OK', 'OK', 'bad'] } },
      [
        'Error: Cannot parse type null as time input for tag local/FLOW',
        'Invalid value 1 for tag local/FLOW: a finite number is expected',
        'Error: Cannot parse type 1e+300 as time input for tag local/FLOW',
        'Invalid status bad for tag local/FLOW: OK or BAD is expected',
      ],
    ],
  ]
  for (const [title, points, expected] of cases) {
    test(title, async () => {
      // Through JSON, as a body arrives: `__proto__` is a key of its own then.
      const body = JSON.parse(JSON.stringify({ points }))
      const local = await historianWith('local', ['FLOW'])
      const archive = await historianWith('archive', ['FLOW'], { writable: false })
      const before = await contents(local)
      assert.deepEqual(await issuesOf(body, local, archive), expected)
      assert.deepEqual(await contents(local), before)
    })
  }

  test('every issue of every tag is reported, in the order of the request', async () => {
    const bad = { timestamp: 'x', value: 'y', status: 'z' }
    assert.deepEqual(await issuesOf({ points: { 'old/A': [bad], 'local/B': [bad, POINT], FLOW: [bad] } }), [
      'Historian old for tag A does not exist',
      'Error: Cannot parse type x as time input for tag old/A',
      'Invalid value y for tag old/A: a finite number is expected',
      'Invalid status z for tag old/A: OK or BAD is expected',
      'Tag local/B does not exist',
      'Error: Cannot parse type x as time input for tag local/B',
      'Invalid value y for tag local/B: a finite number is expected',
      'Invalid status z for tag local/B: OK or BAD is expected',
      'Invalid tag address FLOW: <historian_name>/<tag_name> is expected',
    ])
  })

  test('an issue says where it is, so that a client can drop the point and send the rest again', async () => {
    const points = { 'local/FLOW': [POINT, { timestamp: AT, value: '7' }], 'local/B': [POINT] }
    const { body } = await write({ points })
    assert.deepEqual(body.issues, [
      {
        code: 'INVALID_VALUE',
        message: 'Invalid value 7 for tag local/FLOW: a finite number is expected',
        tag: 'local/FLOW',
        index: 1,
        input: '7',
      },
      { code: 'TAG_NOT_FOUND', message: 'Tag local/B does not exist', tag: 'local/B' },
    ])
  })

  test('one issue, and no tag is made and no point written anywhere', async () => {
    const [a, b] = [await historianWith('a', ['X']), await historianWith('b', ['X'])]
    const before = [await contents(a), await contents(b)]
    const points = { 'a/X': [POINT], 'a/NEW': [POINT], 'b/NEW': [], 'b/X': [{ timestamp: AT, value: null }] }
    assert.equal((await issuesOf({ points, createTags: true }, a, b)).length, 1)
    assert.deepEqual([await contents(a), await contents(b)], before)
  })

  test('100,000 bad points get 1,000 sentences and one that says how many more', async () => {
    const points = { 'local/FLOW': Array.from({ length: 100_000 }, () => ({ timestamp: 'soon', value: 1 })) }
    const errors = await issuesOf({ points })
    assert.equal(errors.length, 1_001)
    assert.equal(errors.at(-1), '99000 more issues are not listed')
  })

  test('an input is cut after 100 characters, and may be nested as deep as it likes', async () => {
    const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
    const points = { 'local/FLOW': [{ timestamp: 'x'.repeat(1_000_000), value: deep }, deep] }
    assert.deepEqual(await issuesOf({ points }), [
      `Error: Cannot parse type ${'x'.repeat(100)} as time input for tag local/FLOW`,
      `Invalid value ${'['.repeat(100)} for tag local/FLOW: a finite number is expected`,
      `Invalid point ${'['.repeat(100)} for tag local/FLOW: an object with timestamp and value is expected`,
    ])
  })

  test('a historian name too long to exist is no address, and does not fill every message', async () => {
    const address = `${'h'.repeat(100_000)}/FLOW`
    const errors = await issuesOf({ points: { [address]: Array.from({ length: 100 }, () => 5) } })
    assert.deepEqual(errors, [
      `Invalid tag address ${'h'.repeat(100)}: <historian_name>/<tag_name> is expected`,
    ])
  })

  test('a historian that the key may not see does not exist', async () => {
    const hidden = await historianWith('hidden', ['FLOW'])
    const call = writeCall([hidden])
    const { body } = await writePoints(
      { points: { 'hidden/FLOW': [] } },
      { ...call, historians: new HistorianRegistry([hidden]).viewFor([]) },
    )
    assert.deepEqual(body.errors, ['Historian hidden for tag FLOW does not exist'])
  })
})

describe('requests that are refused', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [null, 'The body is null: an object with points is expected'],
    [[], 'The body is []: an object with points is expected'],
    ['x', 'The body is x: an object with points is expected'],
    [{}, 'Invalid points null: an object of points by tag address is expected'],
    [{ points: [] }, 'Invalid points []: an object of points by tag address is expected'],
    [{ points: {}, createTags: 'true' }, 'Invalid createTags true: true or false is expected'],
    [{ points: {}, createTags: null }, 'Invalid createTags null: true or false is expected'],
    [{ points: {}, createTags: 1 }, 'Invalid createTags 1: true or false is expected'],
    [
      { points: {}, now: 'yesteday' },
      'Cannot parse type yesteday as time input for now: a time such as yesterday or yesterday at 06:00 is expected',
    ],
    [
      { points: {}, timeZone: 'Mars/Olympus' },
      'Invalid timeZone Mars/Olympus: an IANA zone id such as Europe/Oslo is expected',
    ],
    [{ points: {}, timeZone: 5 }, 'Invalid timeZone 5: an IANA zone id such as Europe/Oslo is expected'],
  ]
  for (const [body, message] of cases) {
    test(message, async () => assert.equal(await refusalOf(body), message))
  }

  test('null for now and timeZone is as left out', async () => {
    assert.deepEqual(await write({ points: {}, now: null, timeZone: null }), DONE)
  })
})

test('unknown fields are ignored, and said once for each kind of place', async () => {
  const points = {
    'local/FLOW': [
      { ...POINT, quality: 192 },
      { ...POINT, quality: 192, Status: 'OK' },
    ],
    'local/TEMP': { timestamps: [], values: [], Unit: 'ms' },
  }
  const local = await historianWith('local', ['FLOW', 'TEMP'])
  const result = await write({ points, createTag: true }, local)
  assert.equal(result.outcome, 'done')
  assert.deepEqual(result.body.warnings, [
    'Unknown field createTag in the call was ignored; createTags was meant?',
    'Unknown field quality in a point was ignored',
    'Unknown field Status in a point was ignored; status was meant?',
    'Unknown field Unit in the columns of a tag was ignored; unit was meant?',
  ])
})

describe('historians that fail', () => {
  const unavailable = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'b', reason: 'no route' })

  async function three() {
    return Promise.all(['a', 'b', 'c'].map((name) => historianWith(name, ['X'])))
  }
  const POINTS = { 'a/X': [POINT], 'b/X': [POINT], 'c/X': [POINT] }
  const failing = (error: unknown) => async () => {
    throw error
  }

  test('one out of reach in the check: nothing is written to the others', async () => {
    const [a, b, c] = await three()
    b!.findTags = failing(unavailable)
    const result = await write({ points: POINTS }, a!, b!, c!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(result.body.errors, ['Historian b could not be reached: no route'])
    assert.equal(result.body.issues![0]!.code, 'HISTORIAN_UNAVAILABLE')
    assert.deepEqual(await pointsOf(a!, 'X'), [])
  })

  test('one out of reach is found before the others are written to, also when tags may be made', async () => {
    const [a, b] = await three()
    b!.checkHealth = failing(unavailable)
    const result = await write({ points: { 'a/X': [POINT], 'b/NEW': [POINT] }, createTags: true }, a!, b!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(await pointsOf(a!, 'X'), [])
  })

  test('one fails while writing: it is said who took the points and who did not', async () => {
    const [a, b, c] = await three()
    b!.write = failing(unavailable)
    const result = await write({ points: POINTS }, a!, b!, c!)
    assert.equal(result.outcome, 'unavailable')
    assert.equal(result.body.message, 'The points could not all be written')
    assert.deepEqual(
      result.body.issues!.map(({ code, message }) => [code, message]),
      [
        ['WRITE_DONE', 'Historian a took its points'],
        ['WRITE_FAILED', 'Historian b did not take its points: Historian b could not be reached: no route'],
        ['WRITE_FAILED', 'Historian c did not take its points: historian b failed before its turn came'],
      ],
    )
    assert.deepEqual(result.failures, [unavailable])
    assert.equal((await pointsOf(a!, 'X')).length, 1)
    assert.deepEqual(await pointsOf(c!, 'X'), [])
  })

  test('a historian that took a part of its points says so itself', async () => {
    const [a, b] = await three()
    const part = { historian: 'b', reason: 'field "value" holds integers' }
    b!.write = failing(new TidemarkError('WRITE_PARTIAL', part))
    const result = await write({ points: { 'a/X': [POINT], 'b/X': [POINT] } }, a!, b!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(
      result.body.issues!.map(({ code, message }) => [code, message]),
      [
        ['WRITE_DONE', 'Historian a took its points'],
        ['WRITE_PARTIAL', 'Historian b took only a part of its points: field "value" holds integers'],
      ],
    )
  })

  test('a commit that was cut off is not known', async () => {
    const [a, b] = await three()
    const cut = { historian: 'b', reason: 'the connection was lost during the commit' }
    b!.write = failing(new TidemarkError('WRITE_OUTCOME_UNKNOWN', cut))
    const result = await write({ points: { 'a/X': [POINT], 'b/X': [POINT] } }, a!, b!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(result.body.errors, [
      'Historian a took its points',
      'It is not known whether historian b took its points: the connection was lost during the commit',
    ])
    assert.equal(result.body.issues![1]!.code, 'WRITE_OUTCOME_UNKNOWN')
  })

  test('a commit that the deadline cut off is not known, and ends as the deadline does', async () => {
    const [a] = await three()
    const cut = { historian: 'a', reason: 'The request was not finished within 30 seconds' }
    const cause = new TidemarkError('WRITE_DEADLINE_EXCEEDED', { seconds: 30 })
    a!.write = failing(new TidemarkError('WRITE_OUTCOME_UNKNOWN', cut, { cause }))
    const result = await write({ points: { 'a/X': [POINT] } }, a!)
    assert.equal(result.outcome, 'deadline')
    assert.deepEqual(
      result.body.issues!.map(({ code }) => code),
      ['WRITE_OUTCOME_UNKNOWN'],
    )
  })

  test('a historian that is not atomic may have taken a part when it fails, unless it is certain that it did not', async () => {
    const [, other] = await three()
    Object.defineProperty(other, 'capabilities', {
      value: { ...other!.capabilities, atomicWrites: 'none' },
    })
    const { signal } = new AbortController()
    const error = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'b', reason: 'its disk is full' })
    other!.write = () => makeChange({ historian: 'b', signal }, () => Promise.reject(error))
    const failed = await write({ points: { 'b/X': [POINT] } }, other!)
    assert.equal(failed.body.issues![0]!.code, 'WRITE_FAILED')

    const [, b] = await three()
    Object.defineProperty(b, 'capabilities', { value: { ...b!.capabilities, atomicWrites: 'tag' } })
    b!.write = failing(unavailable)
    const result = await write({ points: { 'b/X': [POINT] } }, b!)
    assert.deepEqual(result.body.errors, [
      'It is not known whether historian b took its points: Historian b could not be reached: no route',
    ])
  })

  test('a bug of a driver stays in the log', async () => {
    const [, b] = await three()
    const bug = new Error('SELECT secret FROM tags')
    b!.write = failing(bug)
    const result = await write({ points: { 'b/X': [POINT] } }, b!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(result.body.errors, [
      'It is not known whether historian b took its points: the service log says why',
    ])
    assert.deepEqual(result.failures, [bug])
  })

  test('a tag deleted between check and write is reported as if the check had seen it', async () => {
    const [a] = await three()
    const inner = a!.write.bind(a)
    a!.write = async (batch, callContext) => {
      await a!.deleteTags(['X'], false, context())
      return inner(batch, callContext)
    }
    assert.deepEqual(await issuesOf({ points: { 'a/X': [POINT] } }, a!), ['Tag a/X does not exist'])
    assert.deepEqual({ ...(await contents(a!)) }, {})
  })

  test('a tag deleted after another historian took its points is a failure', async () => {
    const [a, b] = await three()
    b!.write = failing(new TidemarkError('TAG_NOT_FOUND', { historian: 'b', tag: 'X' }))
    const result = await write({ points: { 'a/X': [POINT], 'b/X': [POINT] } }, a!, b!)
    assert.equal(result.outcome, 'unavailable')
    assert.deepEqual(result.body.errors, [
      'Historian a took its points',
      'Historian b did not take its points: Tag b/X does not exist',
    ])
  })

  test('the deadline ends a check that hangs, and nothing is written', async () => {
    const [a, b] = await three()
    b!.findTags = (_names, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const body = { points: { 'a/X': [POINT], 'b/X': [POINT] } }
    const result = await writePoints(body, writeCall([a!, b!], { deadlineSeconds: 0.01 }))
    assert.equal(result.outcome, 'deadline')
    assert.deepEqual(result.body.errors, ['The request was not finished within 0.01 seconds'])
    assert.deepEqual(await pointsOf(a!, 'X'), [])
  })

  test('a long check lets others have their turn, and ends when the call does', async (t) => {
    let clock = 0
    t.mock.method(performance, 'now', () => {
      clock += 1_000
      return clock
    })
    const [a] = await three()
    const client = new AbortController()
    setImmediate(() => client.abort())
    const points = { 'a/X': Array.from({ length: 10_000 }, () => POINT) }
    const result = await writePoints({ points }, writeCall([a!], { signal: client.signal }))
    assert.equal(result.outcome, 'cancelled')
    assert.deepEqual(await pointsOf(a!, 'X'), [])
  })

  test('a client that has gone is not written for', async () => {
    const [a] = await three()
    const result = await writePoints(
      { points: { 'a/X': [POINT] } },
      writeCall([a!], { signal: AbortSignal.abort() }),
    )
    assert.equal(result.outcome, 'cancelled')
    assert.deepEqual(await pointsOf(a!, 'X'), [])
  })
})
