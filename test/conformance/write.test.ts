// Specification, section 4.5 and 7; interface, sections 3 (addresses), 5 (points), 6 (write/points), 8 (columns in).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { get, post, send, multi, write, read, refusal } = await conformance(`
historians:
  local:
    type: embedded
  archive:
    type: embedded
    writable: false
`)
const points = (body: unknown) => post('/historian/write/points', body)
const raw = async (tag: string) =>
  (await read('RAW_POINTS', tag, { from: '1700-01-01', to: '2199-12-31', maxPoints: 10_000 })).dataPoints

async function issues(of: unknown, expected: readonly string[]) {
  const { status, body } = await points({ points: of })
  assert.equal(status, 400)
  assert.equal(body.message, 'There were errors in the request')
  assert.deepEqual(body.errors, expected)
  assert.deepEqual(
    body.issues.map((issue: Json) => issue.message),
    expected,
  )
  return body.issues
}

await write({ 'local/A': [] })

test('`All points written!` on success, errors empty', async () => {
  const { status, body } = await points({ points: { 'local/A': [{ timestamp: 1, value: 1, status: 'OK' }] } })
  assert.equal(status, 200)
  assert.deepEqual(body, { message: 'All points written!', errors: [] })
})

test('nothing to write is written', async () => {
  for (const body of [{ points: {} }, { points: { 'local/A': [] } }]) {
    assert.deepEqual((await points(body)).body, { message: 'All points written!', errors: [] })
  }
})

test('points missing or no object: 400', async () => {
  for (const body of [{}, { points: null }, { points: [] }, { points: 'x' }, { points: 5 }]) {
    const { status, body: told } = await points(body)
    assert.equal(status, 400)
    assert.match(JSON.stringify(told), /points/)
  }
})

test('Historian <h> for tag <t> does not exist', () =>
  issues({ 'nowhere/T 1': [{ timestamp: 1, value: 1 }] }, ['Historian nowhere for tag T 1 does not exist']))

test('Historian <h> for tag <t> is not writable', () =>
  issues({ 'archive/T': [{ timestamp: 1, value: 1 }] }, ['Historian archive for tag T is not writable']))

test('Virtual historians exist and are not writable', () =>
  issues(
    {
      'calc/ADD(1, 2)': [],
      'constants/5': [],
      'value/5': [],
      'siggen/sin1@5': [],
      'dates/DAY': [],
      'date/DAY': [],
    },
    [
      'Historian calc for tag ADD(1, 2) is not writable',
      'Historian constants for tag 5 is not writable',
      'Historian value for tag 5 is not writable',
      'Historian siggen for tag sin1@5 is not writable',
      'Historian dates for tag DAY is not writable',
      'Historian date for tag DAY is not writable',
    ],
  ))

test('Tag <h>/<t> does not exist; createTags is false when omitted', async () => {
  await issues({ 'local/none/at all': [{ timestamp: 1, value: 1 }] }, [
    'Tag local/none/at all does not exist',
  ])
  const { body } = await points({ createTags: false, points: { 'local/none': [] } })
  assert.deepEqual(body.errors, ['Tag local/none does not exist'])
})

test('Invalid value <input> for tag <h>/<t>: a finite number is expected', () =>
  issues(
    {
      'local/A': [
        { timestamp: 1, value: 'abc' },
        { timestamp: 1, value: null },
        { timestamp: 1 },
        { timestamp: 1, value: true },
        { timestamp: 1, value: [1] },
        { timestamp: 1, value: { a: 'b' } },
      ],
    },
    ['abc', 'null', 'null', 'true', '[1]', '{"a":"b"}'].map(
      (input) => `Invalid value ${input} for tag local/A: a finite number is expected`,
    ),
  ))

test('a number too large for a double is no finite number', async () => {
  const body = '{"points":{"local/A":[{"timestamp":1,"value":1e999},{"timestamp":1,"value":-1e999}]}}'
  const answer = await send('POST', '/historian/write/points', body, {
    headers: { 'Content-Type': 'application/json' },
  })
  assert.equal(answer.status, 400)
  for (const error of answer.body.errors) {
    assert.match(error, /^Invalid value \S+ for tag local\/A: a finite number is expected$/)
  }
  assert.equal(answer.body.errors.length, 2)
})

test('Invalid status <input> for tag <h>/<t>: OK or BAD is expected; statuses are upper case', () =>
  issues(
    {
      'local/A': [
        { timestamp: 1, value: 1, status: 'ok' },
        { timestamp: 1, value: 1, status: 'GOOD' },
        { timestamp: 1, value: 1, status: '' },
        { timestamp: 1, value: 1, status: 0 },
        { timestamp: 1, value: 1, status: false },
        { timestamp: 1, value: 1, status: ['OK'] },
      ],
    },
    ['ok', 'GOOD', '', '0', 'false', '["OK"]'].map(
      (input) => `Invalid status ${input} for tag local/A: OK or BAD is expected`,
    ),
  ))

test('Invalid tag address <address>: <historian_name>/<tag_name> is expected', async () => {
  const addresses = [
    'local',
    '',
    '/x',
    'local/',
    'lo cal/x',
    'løcal/x',
    'local/a\nb',
    'local/\u0000',
    'local/\u007f',
    '/',
  ]
  await issues(
    Object.fromEntries(addresses.map((address) => [address, []])),
    addresses.map((address) => `Invalid tag address ${address}: <historian_name>/<tag_name> is expected`),
  )
  const long = await points({ createTags: true, points: { [`local/${'x'.repeat(513)}`]: [] } })
  assert.match(
    long.body.errors[0],
    /^Invalid tag address local\/x{50,}.*: <historian_name>\/<tag_name> is expected$/,
  )
})

test('Invalid point <input> for tag <h>/<t>: an object with timestamp and value is expected', () =>
  issues(
    { 'local/A': [null, 5, 'text', true, [1, 2]] },
    ['null', '5', 'text', 'true', '[1,2]'].map(
      (input) => `Invalid point ${input} for tag local/A: an object with timestamp and value is expected`,
    ),
  ))

test('Error: Cannot parse type <input> as time input for tag <h>/<t>, null for a missing field', () =>
  issues({ 'local/A': [{ value: 1 }, { timestamp: 'never ever', value: 1 }] }, [
    'Error: Cannot parse type null as time input for tag local/A',
    'Error: Cannot parse type never ever as time input for tag local/A',
  ]))

test('<input> is cut after 100 characters', async () => {
  const { body } = await points({
    points: {
      'local/A': [{ timestamp: 'x'.repeat(5000), value: 'y'.repeat(5000), status: 'z'.repeat(5000) }],
    },
  })
  assert.equal(body.errors.length, 3)
  for (const [error, letter] of [
    [body.errors[0], 'x'],
    [body.errors[1], 'y'],
    [body.errors[2], 'z'],
  ] as const) {
    assert.match(error, new RegExp(` ${letter}{100}[^${letter}]`))
    assert.ok(error.length < 250)
  }
})

test('every issue is reported, one message per issue, for the tag or for the point that has it', async () => {
  const found = await issues(
    {
      'nowhere/T': [
        { timestamp: 1, value: 1 },
        { timestamp: 'bad', value: 1 },
      ],
      'local/none': [{ timestamp: 1, value: 1 }],
      'local/A': [{ timestamp: 'bad', value: 'bad', status: 'bad' }],
    },
    [
      'Historian nowhere for tag T does not exist',
      'Error: Cannot parse type bad as time input for tag nowhere/T',
      'Tag local/none does not exist',
      'Error: Cannot parse type bad as time input for tag local/A',
      'Invalid value bad for tag local/A: a finite number is expected',
      'Invalid status bad for tag local/A: OK or BAD is expected',
    ],
  )
  assert.equal('index' in found[0], false)
  assert.equal(found[1].index, 1)
  assert.equal(found[3].index, 0)
  assert.equal(new Set(found.map((issue: Json) => issue.code)).size, 5)
})

test('When any issue is found, no point of the request is written, also no tag created', async () => {
  const { status } = await points({
    createTags: true,
    points: {
      'local/NEW': [{ timestamp: 1, value: 1 }],
      'local/A': [
        { timestamp: '2020-01-01', value: 77 },
        { timestamp: 'bad', value: 1 },
      ],
    },
  })
  assert.equal(status, 400)
  assert.equal(
    (await raw('local/A')).some((point: Json) => point.value === 77),
    false,
  )
  assert.equal(await refusal('CURRENT_POINT', 'local/NEW'), 'Tag local/NEW does not exist')
})

test('at most 1,000 messages, then one that says how many more; 100,000 bad points get a bounded answer', async () => {
  const bad = Array.from({ length: 100_000 }, () => ({ timestamp: 'bad', value: 'worse' }))
  const { status, body, text } = await points({ points: { 'local/A': bad } })
  assert.equal(status, 400)
  assert.equal(body.errors.length, 1001)
  assert.match(body.errors[1000], /199,?000/)
  assert.ok(text.length < 1_000_000)
  assert.ok(body.issues.length >= 1000 && body.issues.length <= 1001)
})

test('exactly 1,000 issues need no further message', async () => {
  const bad = Array.from({ length: 1000 }, () => ({ timestamp: 'bad', value: 1 }))
  assert.equal((await points({ points: { 'local/A': bad } })).body.errors.length, 1000)
})

test('Created tags have no description, no units, and are not stepped; an empty array creates its tag too', async () => {
  const { status } = await points({
    createTags: true,
    points: { 'local/EMPTY': [], 'local/FULL': [{ timestamp: 1, value: 1 }] },
  })
  assert.equal(status, 200)
  const { body } = await post('/historian/metadata/get', { tags: ['local/EMPTY', 'local/FULL'] })
  const none = { description: null, units: null, stepped: false }
  assert.deepEqual(body, { entries: { 'local/EMPTY': none, 'local/FULL': none }, errors: {} })
})

test('A createTags that is no boolean: 400; null is left out', async () => {
  for (const createTags of ['true', 1, 0, [], {}]) {
    const { status, body } = await points({ createTags, points: { 'local/NOT': [] } })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /createTags/)
  }
})

test('Points may arrive in any order, also far in the past and in the future; reads are in time order', async () => {
  await write({
    'local/ORDER': [
      ['2026-01-03', 3],
      ['1700-01-01', 0],
      ['2199-12-31T23:59:59.999999Z', 9],
      ['2026-01-01', 1],
    ],
  })
  await write({ 'local/ORDER': [['2026-01-02', 2]] })
  const { dataPoints } = await read('RAW_POINTS', 'local/ORDER', {
    from: '1700-01-01',
    to: '2199-12-31T23:59:59.999999Z',
    rightBoundary: 'INCLUDE',
  })
  assert.deepEqual(
    dataPoints.map((point: Json) => point.value),
    [0, 1, 2, 3, 9],
  )
})

test('writing the same timestamp again replaces it, the last one wins, inside one request too', async () => {
  await write({
    'local/TWICE': [
      ['2026-01-01T00:00:00Z', 1],
      ['2026-01-02', 5],
      ['2026-01-01T01:00:00+01:00', 2, 'BAD'],
      [1767225600, 3],
    ],
  })
  assert.deepEqual(
    (await raw('local/TWICE')).map((point: Json) => [point.value, point.status]),
    [
      [3, 'OK'],
      [5, 'OK'],
    ],
  )
  await write({ 'local/TWICE': [['2026-01-01', 4, 'BAD']] })
  assert.deepEqual((await raw('local/TWICE'))[0], {
    timestamp: '2026-01-01T00:00:00.000Z',
    value: 4,
    status: 'BAD',
  })
})

test('value, status and microsecond survive a round trip', async () => {
  const values = [0, -0, 5e-324, -1.7976931348623157e308, 0.1, 1e21, 123456789.12345679, 2 ** 53, -1]
  await write({
    'local/TRIP': values.map((value, i) => [`2026-01-01T00:00:00.00000${i}Z`, value, i % 2 ? 'BAD' : 'OK']),
  })
  const found = await raw('local/TRIP')
  assert.deepEqual(
    found.map((point: Json) => point.value + 0),
    values.map((value) => value + 0),
  )
  assert.deepEqual(
    found.map((point: Json) => point.status),
    values.map((_, i) => (i % 2 ? 'BAD' : 'OK')),
  )
  assert.equal(found[3].timestamp, '2026-01-01T00:00:00.000003Z')
  assert.equal(found[0].timestamp, '2026-01-01T00:00:00.000Z')
})

test('A read point is {"timestamp", "value", "status"}', async () => {
  await write({ 'local/SHAPE': [['2026-01-01', 1]] })
  assert.deepEqual(await raw('local/SHAPE'), [
    { timestamp: '2026-01-01T00:00:00.000Z', value: 1, status: 'OK' },
  ])
})

test('tag names: any text of 1 to 512 UTF-16 units, case-sensitive and not normalised', async () => {
  const names = [
    'a/b/c',
    ' outer ',
    "it's",
    'f(x, y)',
    '"q"',
    'é',
    'e\u0301',
    'CASE',
    'case',
    '\u00a0',
    '🌊'.repeat(256),
    'x'.repeat(512),
    '%2F',
    '?a=b&c',
    '#',
    '..',
    '../..',
    '*',
    '\\',
  ]
  await write(Object.fromEntries(names.map((name, i) => [`local/${name}`, [['2026-01-01', i]]])))
  for (const [i, name] of names.entries()) {
    const point = await read('CURRENT_POINT', `local/${name}`)
    assert.equal(point.dataPoint.value, i, name)
  }
})

test('lone surrogates are refused', async () => {
  const { status, body } = await points({ createTags: true, points: { 'local/\ud800': [] } })
  assert.equal(status, 400)
  assert.match(body.errors[0], /^Invalid tag address local\/.+: <historian_name>\/<tag_name> is expected$/)
})

test('A read sees all points of a write request or none of them, and after its acknowledgement always all', async () => {
  const tags = Array.from({ length: 5 }, (_, i) => `local/ALL${i}`)
  await write(Object.fromEntries(tags.map((tag) => [tag, [['2026-01-01', 0]]])))
  const readAll = async () => {
    const { body } = await multi({
      now: '2027-01-01',
      requests: Object.fromEntries(tags.map((tag) => [tag, { type: 'CURRENT_POINT', tag }])),
    })
    return tags.map((tag) => body.results[tag].dataPoint.value)
  }
  for (let round = 1; round <= 10; round++) {
    const writing = write(Object.fromEntries(tags.map((tag) => [tag, [['2026-01-01', round]]])))
    for (const seen of await Promise.all([readAll(), readAll(), readAll()])) {
      assert.equal(new Set(seen).size, 1, `half a write was seen: ${seen}`)
    }
    await writing
    assert.deepEqual(
      await readAll(),
      tags.map(() => round),
    )
  }
})

test('Columns: write/points takes timestamps, values and statuses in place of an array of points', async () => {
  const cases: [string, unknown, string[]][] = [
    [
      'ms',
      { timestamps: [1767225600000, 1767225600000.5], values: [1, 2], unit: 'ms' },
      ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000500Z'],
    ],
    [
      's',
      { timestamps: [1767225600, 1767225601.25], values: [1, 2], unit: 's' },
      ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.250Z'],
    ],
    [
      'us',
      { timestamps: [1767225600000000, 1767225600000001], values: [1, 2], unit: 'us' },
      ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000001Z'],
    ],
    [
      'none',
      { timestamps: [1767225600, 1767225600001], values: [1, 2] },
      ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'],
    ],
    [
      'small ms',
      { timestamps: [0, 1000], values: [1, 2], unit: 'ms' },
      ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'],
    ],
    [
      'texts',
      { timestamps: ['2026-01-01', '2026-01-02T00:00:00Z'], values: [1, 2], statuses: ['OK', 'BAD'] },
      ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
    ],
    ['empty', { timestamps: [], values: [] }, []],
  ]
  for (const [name, columns, expected] of cases) {
    const { status, body } = await points({ createTags: true, points: { [`local/COL ${name}`]: columns } })
    assert.equal(status, 200, JSON.stringify(body))
    const found = await raw(`local/COL ${name}`)
    assert.deepEqual(
      found.map((point: Json) => point.timestamp),
      expected,
      name,
    )
    if (name === 'texts')
      assert.deepEqual(
        found.map((point: Json) => point.status),
        ['OK', 'BAD'],
      )
  }
})

test('Columns: unequal lengths, wrong units and wrong members are refused with the sentences of points', async () => {
  for (const columns of [
    { timestamps: [1, 2], values: [1] },
    { timestamps: [1], values: [1], statuses: [] },
    { timestamps: [1], values: [1], unit: 'ns' },
    { timestamps: [1] },
    { values: [1] },
    { timestamps: 1, values: 1 },
  ]) {
    const { status, body } = await points({ points: { 'local/A': columns } })
    assert.equal(status, 400, JSON.stringify(columns))
    assert.ok(body.errors.length >= 1 || body.message.length > 10)
  }
  const found = await issues(
    { 'local/A': { timestamps: [1, 'bad', 3], values: ['x', 1, null], statuses: ['OK', 'bad', 'OK'] } },
    [
      'Invalid value x for tag local/A: a finite number is expected',
      'Error: Cannot parse type bad as time input for tag local/A',
      'Invalid status bad for tag local/A: OK or BAD is expected',
      'Invalid value null for tag local/A: a finite number is expected',
    ],
  )
  assert.deepEqual(
    found.map((issue: Json) => issue.index),
    [0, 1, 1, 2],
  )
})

test('null statuses in columns are left out', async () => {
  const { status } = await points({
    createTags: true,
    points: {
      'local/N1': { timestamps: [1], values: [1], statuses: null, unit: null },
      'local/N2': { timestamps: [1, 2], values: [1, 2], statuses: [null, 'BAD'] },
    },
  })
  assert.equal(status, 200)
  assert.deepEqual(
    (await raw('local/N2')).map((point: Json) => point.status),
    ['OK', 'BAD'],
  )
})

test('Columns out are written back as they came', async () => {
  await write({
    'local/SRC': [
      ['2026-01-01T00:00:00.123456Z', 1],
      ['2026-01-01T00:00:01Z', 2, 'BAD'],
    ],
  })
  const { body } = await multi({
    format: 'columns',
    requests: {
      a: { type: 'RAW_POINTS', tag: 'local/SRC', details: { from: '2026-01-01', to: '2026-01-02' } },
    },
  })
  const { dataPoints } = body.results.a
  const answer = await points({ createTags: true, points: { 'local/COPY': dataPoints } })
  assert.deepEqual(answer.body, { message: 'All points written!', errors: [] })
  assert.deepEqual(await raw('local/COPY'), await raw('local/SRC'))
})

test('concurrent writes to one tag are all there afterwards', async () => {
  await write({ 'local/CONC': [] })
  await Promise.all(Array.from({ length: 30 }, (_, i) => write({ 'local/CONC': [[1_700_000_000 + i, i]] })))
  assert.equal((await raw('local/CONC')).length, 30)
})

test('the lists answer { historians: [{ name }] }', async () => {
  assert.deepEqual((await get('/historian/listwritable')).body, { historians: [{ name: 'local' }] })
  const { body } = await get('/historian/list')
  assert.deepEqual(body.historians.map((one: Json) => one.name).toSorted(), ['archive', 'local'])
})
