import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contents, historianWith, pointsOf, writeCall } from '../../../test/write/call.ts'
import { writePlainPoints, writePoints } from '../write-points.ts'
import { AddressBook } from './address-book.ts'
import { PointsReader } from './points-reader.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const AT = 1768471200000

async function plant() {
  return Promise.all([
    historianWith('local', ['A', 'B', 'ü/x']),
    historianWith('other', ['A']),
    historianWith('archive', ['A'], { writable: false }),
  ])
}

/** Writes a body from its bytes, and parsed into another plant; the answers and what is stored must be the same. */
async function bothWays(text: string, reader = new PointsReader()): Promise<'plain' | 'other'> {
  const [one, two] = [await plant(), await plant()]
  const plain = await writePlainPoints(encode(text), writeCall(one), reader)
  if (plain === null) {
    for (const [index, historian] of one.entries()) {
      assert.deepEqual(await contents(historian), await contents(two[index]!))
    }
    return 'other'
  }
  const parsed = await writePoints(JSON.parse(text), writeCall(two))
  assert.deepEqual(plain, parsed, text)
  for (const [index, historian] of one.entries()) {
    assert.deepEqual(await contents(historian), await contents(two[index]!), text)
  }
  return 'plain'
}

const POINT = `{"timestamp":${AT},"value":1}`

test('what programs send is read from its bytes', async () => {
  const entries = [
    `"local/A":[${POINT}]`,
    `"local/A":[${POINT},{"timestamp":${AT + 1},"value":-2.5}]`,
    `"local/A":[${POINT},{"value":2,"status":"BAD","timestamp":1768471201.25},{"timestamp":0,"value":1,"status":null}]`,
    '"local/A":[{"timestamp":"2026-01-15T10:00:00Z","value":1},{"timestamp":"2026-01-15T10:00:00.25+01:00","value":1e-3}]',
    `"local/A":[],"local/ü/x":[${POINT}]`,
    '"local/A":{"timestamps":[1,2],"values":[3,4]}',
    '"local/A":{"unit":"us","values":[3.25,4],"statuses":["BAD","OK"],"timestamps":[1,2]}',
    '"local/A":{"timestamps":[5,2],"values":[3,4],"statuses":[null,"BAD"],"unit":"s"},"local/B":{"timestamps":[],"values":[]}',
    '"local/A":{"timestamps":["2026-01-15T10:00:00Z"],"values":[3],"statuses":null,"unit":null}',
    `"local/new":[${POINT}],"local/A":[${POINT}]`,
  ]
  for (const entry of entries) {
    const compact = `{"points":{${entry}}}`
    const wide = JSON.stringify(JSON.parse(compact), null, '\t')
    for (const body of [
      compact,
      wide,
      `{"createTags":true,"points":{${entry}}}`,
      ` {"points" : {${entry}} ,\r\n"createTags" : false}`,
    ]) {
      assert.equal(await bothWays(body), 'plain', body)
    }
  }
})

test('anything else is left to the general reader', async () => {
  const entries = [
    `"local/A":[${POINT}],"local/A":[]`,
    `"local/\\u0041":[${POINT}]`,
    '"local/A":[{"timestamp":"now","value":1}]',
    '"local/A":[{"timestamp":1,"timestamp":2,"value":1}]',
    '"local/A":[{"timestamp":1,"value":1,"quality":1}]',
    '"local/A":[{"timestamp":1}]',
    '"local/A":[{"timestamp":1,"value":null}]',
    '"local/A":[{"timestamp":1,"value":"1"}]',
    '"local/A":[{"timestamp":1,"value":1,"status":"bad"}]',
    '"local/A":[{"timestamp":1e300,"value":1}]',
    '"local/A":[{"timestamp":99999999999999,"value":1}]',
    '"local/A":[{"timestamp":1,"value":1},{"timestamp":"2026-01-15T10:00:00Z","value":1}]',
    '"local/A":[5]',
    '"local/A":null',
    '"local/A":{"timestamps":[1,2],"values":[1]}',
    '"local/A":{"timestamps":[1],"values":[1],"unit":"ns"}',
    '"local/A":{"timestamps":[1],"values":[1],"unit":"ms","unit":"s"}',
    '"local/A":{"timestamps":[1],"values":[1],"unit":" s "}',
    '"local/A":{"timestamps":[1],"values":[1],"unit":"\n s"}',
    '"local/A":{"timestamps":[1],"values":[1],"unit":"s',
    `"other/A":[${POINT}],"local/A":[${POINT}]`,
    `"archive/A":[${POINT}]`,
    `"none/A":[${POINT}]`,
    `"calc/A":[${POINT}]`,
    `"A":[${POINT}]`,
    `"__proto__":[${POINT}]`,
  ]
  for (const entry of entries) assert.equal(await bothWays(`{"points":{${entry}}}`), 'other', entry)
  const good = `"points":{"local/A":[${POINT}]}`
  for (const body of [
    ...[
      '',
      '{',
      'null',
      '[]',
      '{}',
      '{"points":{}}',
      `{${good},}`,
      `{${good}}x`,
      `{${good}`,
      `\ufeff{${good}}`,
    ],
    ...[
      `{${good},"now":1}`,
      `{${good},"createTags":1}`,
      `{${good},"createTags":trueish}`,
      `{${good},${good}}`,
    ],
    `{"points":{"local/A":[${POINT}${POINT}]}}`,
    `{"points":{"local/A":[${POINT},]}}`,
  ]) {
    const [local] = await plant()
    assert.equal(await writePlainPoints(encode(body), writeCall([local!]), new PointsReader()), null, body)
    assert.deepEqual(await pointsOf(local!, 'A'), [])
  }
  const broken = encode(`{"points":{"local/?":[${POINT}]}}`).map((byte) => (byte === 63 ? 0xff : byte))
  assert.equal(await writePlainPoints(broken, writeCall(await plant()), new PointsReader()), null)
})

/** Both ways have the same answer, and what is no JSON is never taken for a plain body. */
async function checkBothWays(body: string, reader: PointsReader): Promise<void> {
  let isJson = true
  try {
    JSON.parse(body)
  } catch {
    isJson = false
  }
  const way = await bothWays(body, reader)
  if (!isJson) assert.equal(way, 'other', body)
}

test('a body cut off or changed in one byte is answered as its JSON is', async () => {
  const body =
    '{"createTags":true,"points":{"local/A":[{"timestamp":1768471200000,"value":12.5,"status":"BAD"},{"timestamp":"2026-01-15T10:00:00Z","value":1}],' +
    '"local/B":{"unit":"ms","timestamps":[1768471200000,1],"values":[1.5,2],"statuses":["OK","BAD"]}}}'
  const reader = new PointsReader()
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: body.length - 1 }),
      fc.constantFrom(...'{}[]",:.-+0123456789eE tbl\\', ''),
      fc.boolean(),
      async (at, byte, isCut) => {
        const changed = body.slice(0, at) + byte + (isCut ? '' : body.slice(at + 1))
        await checkBothWays(changed, reader)
      },
    ),
    { numRuns: 1_500 },
  )
})

test('columns as programs write them, with anything changed in them, are answered as their JSON is', async () => {
  const arrays = '"timestamps":[1768471200000,1768471201000,1768471200500],"values":[12.5,-0.25,7]'
  const bodies = [`{${arrays}}`, `{"unit":"ms",${arrays}}`, `{${arrays},"unit":"ms"}`].map(
    (columns) => `{"createTags":true,"points":{"local/A":${columns},"local/B":${columns}}}`,
  )
  for (const body of bodies) assert.equal(await bothWays(body), 'plain', body)
  const reader = new PointsReader()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bodies),
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.oneof(
        fc.constantFrom(...'{}[]",:.-+0123456789eE tbl\\', '', 'ü'),
        fc.constantFrom('"us"', '"s"', 'null', ',"unit":"s"', ',"statuses":null', '[]', '99', '.5', '1e3'),
      ),
      fc.boolean(),
      async (body, place, length, inserted, isCut) => {
        const at = place % body.length
        const changed = body.slice(0, at) + inserted + (isCut ? '' : body.slice(at + length))
        await checkBothWays(changed, reader)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('rows with texts as timestamps, with anything changed in them, are answered as their JSON is', async () => {
  const rowsOf = (...texts: readonly string[]) =>
    JSON.stringify(texts.map((timestamp, index) => ({ timestamp, value: index - 0.5 })))
  const rows = rowsOf('2026-01-15T10:00:00.000Z', '2026-01-15T10:59:59.999Z', '2026-01-15T11:00:00Z')
  const mixed = rowsOf('2026-01-15T10:00:00.123456Z', '2026-01-15T10:00:00+01:00', '2026-01-15T10:00:01.000Z')
  const bodies = [rows, mixed].map(
    (text) => `{"createTags":true,"points":{"local/A":${text},"local/B":${text}}}`,
  )
  for (const body of bodies) assert.equal(await bothWays(body), 'plain', body)
  const reader = new PointsReader()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bodies),
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom(
        ...'{}[]",:.-+0123456789eETZtz\\',
        '',
        'ü',
        '60',
        '24',
        '13',
        'null',
        '+01:00',
        ',"status":"BAD"',
      ),
      fc.boolean(),
      async (body, place, length, inserted, isCut) => {
        const at = place % body.length
        const changed = body.slice(0, at) + inserted + (isCut ? '' : body.slice(at + length))
        await checkBothWays(changed, reader)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('timestamps of thirteen digits at their edges, in either form and any number', async () => {
  const reader = new PointsReader()
  const stamps = [
    ...['7258118399999', '7258118400000', '9999999999999', '1000000000000', '0999999999999', '999999999999'],
    ...[
      '1768471200000',
      '1768471299999',
      '17684712000000',
      '1768471200000.5',
      '-1768471200000',
      '1768471200000e0',
    ],
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...stamps), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(',"unit":"ms"', ',"unit":"s"', ',"unit":"us"', ''),
      fc.boolean(),
      async (times, unit, isFirst) => {
        const values = times.map((_, index) => `${index}.5`)
        const arrays = `"timestamps":[${times}],"values":[${values}]`
        const columns = isFirst && unit !== '' ? `{${unit.slice(1)},${arrays}}` : `{${arrays}${unit}}`
        const rows = times.map((time, index) => `{"timestamp":${time},"value":${values[index]}}`)
        await bothWays(`{"points":{"local/A":${columns},"local/B":[${rows}]}}`, reader)
        await bothWays(`{"points":{"local/B":[${rows}]}}`, reader)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('columns of any length are read in one go or chunk by chunk', async () => {
  const [local] = await plant()
  const reader = new PointsReader()
  for (const count of [1, 1_999, 2_000, 2_001, 4_000, 16_383, 16_384, 16_385, 17_000]) {
    const times = Array.from({ length: count }, (_, i) => AT + i)
    const columns = { timestamps: times, values: times.map((time) => (time % 1_000) / 8) }
    const body = JSON.stringify({ points: { 'local/A': columns, 'local/B': columns, 'local/ü/x': columns } })
    const plain = await reader.read(
      encode(body),
      writeCall([local!]).historians,
      new AbortController().signal,
    )
    const { offsets, points } = plain!.batch
    assert.deepEqual([...offsets], [0, count, 2 * count, 3 * count])
    for (let i = 0; i < 3 * count; i++) {
      assert.equal(points.times[i], (AT + (i % count)) * 1_000)
      assert.equal(points.values[i], ((AT + (i % count)) % 1_000) / 8)
      assert.equal(points.statuses[i], 0)
    }
  }
})

test('numbers, times and units at their edges are stored as their JSON says', async () => {
  const times = [
    ...['-0', '-0.4', '0.0000005', '-0.0000005', '1.5', '99999999999', '100000000000', '-99999999999.5'],
    ...['7258118399999.9994', '7258118399999.9995', '7258118399.9999994', '7258118399.9999995', '7258118400'],
    ...['7258118399999999.4', '7258118399999999.5', '-8520336000', '-8520336000000.5', '-8520336000.0000006'],
    ...['-8520336000000000.4', '-8520336000000000.6', '1768471200000.0005', '01', '1e11', '1e400'],
    ...['"1700-01-01T00:00:00Z"', '"1700-01-01T00:00:00+00:01"', '"2199-12-31T23:59:59.999999Z"'],
    ...['"2200-01-01T00:00:00Z"', '"2026-02-29T00:00:00Z"', '"2026-01-15T10:00:60Z"', '"soon"'],
  ]
  const values = [
    '-0',
    '0',
    '1.',
    '.5',
    '0x1',
    '1E5',
    '5e-324',
    '1e-400',
    '123456789012345678',
    '0.1',
    'null',
  ]
  const reader = new PointsReader()
  const pair = fc.tuple(fc.constantFrom(...times), fc.constantFrom('1', ...values))
  const unit = fc.constantFrom('null', '"s"', '"ms"', '"us"', '"ns"')
  let plain = 0
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { maxLength: 2 }), unit, fc.boolean(), async (pairs, unit, isColumns) => {
      const list = (index: 0 | 1) => `[${pairs.map((each) => each[index]).join(',')}]`
      const rows = pairs.map(([timestamp, value]) => `{"timestamp":${timestamp},"value":${value}}`)
      const columns = `{"timestamps":${list(0)},"values":${list(1)},"unit":${unit}}`
      const body = `{"points":{"local/A":${isColumns ? columns : `[${rows}]`}}}`
      if ((await bothWays(body, reader)) === 'plain') plain++
    }),
    { numRuns: 1_000 },
  )
  assert.ok(plain > 50, `${plain}`)
})

test('requests of any size follow each other through one reader', async () => {
  const reader = new PointsReader(new AddressBook({ addresses: 50, listed: 70 }))
  let plain = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 70 }), fc.nat({ max: 60 }), fc.boolean()), {
        minLength: 1,
        maxLength: 60,
      }),
      async (tags) => {
        const points = Object.fromEntries(
          tags.map(([tag, count, isColumns]) => {
            const times = Array.from({ length: count }, (_, i) => AT + i * 1_000)
            const rows = times.map((timestamp) => ({ timestamp, value: timestamp / 7 + tag }))
            const columns = { unit: 'ms', timestamps: times, values: rows.map(({ value }) => value) }
            return [`local/tag ${tag}`, isColumns ? columns : rows]
          }),
        )
        if ((await bothWays(JSON.stringify({ points, createTags: true }), reader)) === 'plain') plain++
      },
    ),
    { numRuns: 60 },
  )
  // When the book is full a request is left to the general reader, and the next one begins a new book.
  assert.ok(plain > 20, `${plain}`)
})

test('requests for the same tags in the same order have the same list of them', async () => {
  const reader = new PointsReader()
  const { historians } = writeCall(await plant())
  const { signal } = new AbortController()
  const read = async (...tags: readonly string[]) => {
    const points = Object.fromEntries(tags.map((tag) => [`local/${tag}`, [{ timestamp: AT, value: 1 }]]))
    const { batch } = (await reader.read(encode(JSON.stringify({ points })), historians, signal))!
    assert.deepEqual(batch.tags, tags)
    return batch.tags
  }
  const first = await read('A', 'B')
  const others = [await read('B', 'A'), await read('A'), await read('A', 'B', 'C')]
  assert.equal(await read('A', 'B'), first)
  assert.equal(await read('B', 'A'), others[0])
  for (let tag = 0; tag < 128; tag++) await read(`${tag}`)
  assert.notEqual(await read('A', 'B'), first)
})

test('a long tag grows its space', async () => {
  const [local] = await plant()
  const times = Array.from({ length: 50_000 }, (_, i) => AT + i)
  const reader = new PointsReader()
  for (const points of [
    times.map((timestamp) => ({ timestamp, value: timestamp })),
    times.map((timestamp) => ({ timestamp: new Date(timestamp).toISOString(), value: timestamp })),
    { timestamps: times, values: times, unit: 'ms' },
    { timestamps: times, values: times, statuses: times.map(() => 'BAD') },
  ]) {
    const body = encode(JSON.stringify({ points: { 'local/A': points } }))
    const result = await writePlainPoints(body, writeCall([local!]), reader)
    assert.equal(result?.outcome, 'done')
    const stored = await pointsOf(local!, 'A')
    assert.equal(stored.length, 50_000)
    assert.deepEqual(stored[49_999], [(AT + 49_999) * 1_000, AT + 49_999, 'statuses' in points ? 1 : 0])
  }
})

test('long bodies take turns, and a tag named twice is found out all the same', async (t) => {
  // The slice of this turn was begun by another clock.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  // Every look at the clock finds the slice used up.
  let clock = 0
  t.mock.method(performance, 'now', () => {
    clock += 1_000
    return clock
  })
  const rows = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ timestamp: AT + i, value: i })))
  const reader = new PointsReader()
  const view = writeCall(await plant()).historians
  const { signal } = new AbortController()
  const once = encode(`{"points":{"local/A":${rows},"local/B":${rows}}}`)
  const twice = encode(`{"points":{"local/A":${rows},"local/B":${rows},"local/A":[]}}`)
  const read = await Promise.all([once, twice, once, twice].map((body) => reader.read(body, view, signal)))
  assert.deepEqual(
    read.map((plain) => plain?.batch.points.times.length ?? null),
    [10_000, null, 10_000, null],
  )
  for (const plain of [read[0]!, read[2]!]) {
    assert.deepEqual(plain.batch.tags, ['A', 'B'])
    assert.ok(plain.batch.points.values.every((value, index) => value === index % 5_000))
  }
  const client = new AbortController()
  setImmediate(() => client.abort(new Error('gone')))
  await assert.rejects(reader.read(once, view, client.signal), /gone/)
})

test('columns of one tag take turns too, in each of their forms', async (t) => {
  // The slice of this turn was begun by another clock.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  let clock = 0
  t.mock.method(performance, 'now', () => {
    clock += 1_000
    return clock
  })
  const count = 10_000
  const times = Array.from({ length: count }, (_, i) => AT + i)
  const columns = {
    timestamps: times,
    values: times.map((time) => time % 7),
    statuses: times.map((time) => (time % 3 === 0 ? 'BAD' : 'OK')),
  }
  const texts = times.map((time) => new Date(time).toISOString())
  const view = writeCall(await plant()).historians
  for (const input of [columns, { ...columns, timestamps: texts }]) {
    for (const blank of ['', ' ']) {
      const body = encode(JSON.stringify({ points: { 'local/A': input } }, null, blank))
      let turns = 0
      let ticker = setImmediate(function tick() {
        turns++
        ticker = setImmediate(tick)
      })
      const plain = await new PointsReader().read(body, view, new AbortController().signal)
      clearImmediate(ticker)
      // Three columns, each of several chunks.
      assert.ok(turns >= 10, `${turns} turns`)
      const { times: at, values, statuses } = plain!.batch.points
      assert.deepEqual(
        Array.from(at),
        times.map((time) => time * 1_000),
      )
      assert.deepEqual(Array.from(values), columns.values)
      assert.deepEqual(
        Array.from(statuses),
        columns.statuses.map((status) => (status === 'BAD' ? 1 : 0)),
      )
    }
  }
})

test('a key sees its own historians, whatever was read before', async () => {
  const reader = new PointsReader()
  const [local, other] = await plant()
  const body = encode(`{"points":{"other/A":[${POINT}]}}`)
  assert.equal((await writePlainPoints(body, writeCall([local!, other!]), reader))?.outcome, 'done')
  assert.equal(await writePlainPoints(body, writeCall([local!]), reader), null)
})
