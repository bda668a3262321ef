import assert from 'node:assert/strict'
import test from 'node:test'
import { contents, historianWith, writeCall } from '../../test/write/call.ts'
import type { Result } from '../errors/outcome.ts'
import { PointsReader } from './body/points-reader.ts'
import { writeBody, writePoints } from './write-points.ts'

const reader = new PointsReader()
const LONG = ' '.repeat(300_000)

async function plant() {
  return Promise.all([historianWith('local', ['A', 'B']), historianWith('lab', ['A'])])
}

/** The same body read in chunks from its bytes, and parsed at once: the answer and what is stored afterwards. */
async function bothWays(
  text: string,
): Promise<{ readonly result: Result<object>; readonly stored: readonly object[] }> {
  const [one, two] = [await plant(), await plant()]
  let holds = 0
  const bytes = Buffer.from(text)
  const hold = () => {
    holds++
  }
  const result = await writeBody(bytes, writeCall(one), reader, () => {}, hold)
  const { failures: _, ...parsed } = await writePoints(JSON.parse(text), writeCall(two))
  const { failures: __, ...read } = result
  assert.deepEqual(read, parsed)
  const stored = await Promise.all(one.map(contents))
  assert.deepEqual(stored, await Promise.all(two.map(contents)))
  // Once before it is read in cuts, once more before all of it is made.
  isWhole = holds > 1
  return { result, stored }
}

/** Whether the last body was made into one value after all. */
let isWhole = false

function rows(count: number, make: (i: number) => unknown = (i) => i): string {
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({ timestamp: `2026-01-01 00:00:00.${1_000 + i}`, value: make(i) }),
  ).join()
}

test('a long body that is not plain is read in chunks, and is what it is parsed at once', async () => {
  // Texts without a zone follow the fields that come behind the points.
  const text = `{"points":{"local/A":[${rows(5_000)}],"lab/A":[${rows(3_000)}],"local/B":{"timestamps":[1,2],"values":[3,4]}},"timeZone":"Asia/Tokyo","x":[${LONG}]}`
  const { result, stored } = await bothWays(text)
  assert.equal(result.outcome, 'done')
  assert.equal(isWhole, false)
  assert.ok(JSON.stringify(stored).length > 100_000)
})

test('long columns and nested points are read in chunks too', async () => {
  const times = Array.from({ length: 40_000 }, (_, i) => i * 1_000 + 0.5)
  const columns = JSON.stringify({ timestamps: times, values: times, unit: 's' })
  assert.equal((await bothWays(`{"now":null,"points":{"local/A":${columns}}}`)).result.outcome, 'done')
  const big = JSON.stringify({ timestamp: 1, value: Array(60_000).fill(1) })
  const { result } = await bothWays(
    `{"points":{"local/A":[{"timestamp":1,"value":1},${big},{"timestamp":2,"value":2}]}}`,
  )
  assert.equal(result.outcome, 'issues')
  assert.equal((result.body as { issues: { index: number }[] }).issues[0]!.index, 1)
  assert.equal(isWhole, false)
})

test('issues keep their order and their places, up to a thousand of all', async () => {
  const bad = (i: number) => (i % 4 === 3 ? 'x' : i)
  const text = `{"points":{"nowhere/X":[${rows(10, bad)}],"local/A":[${rows(3_000, bad)}],"local/none":[${rows(2_000, bad)}],"bad":[1],"local/B":5}${LONG}}`
  const { result } = await bothWays(text)
  assert.equal(result.outcome, 'issues')
  const { issues } = result.body as { issues: { code: string; index?: number }[] }
  assert.deepEqual(
    issues.slice(0, 3).map(({ code, index }) => [code, index]),
    [
      ['HISTORIAN_NOT_FOUND', undefined],
      ['INVALID_VALUE', 3],
      ['INVALID_VALUE', 7],
    ],
  )
  assert.equal(issues.length, 1_001)
})

for (const [title, text] of [
  [
    'an address that comes twice',
    `{"points":{"local/A":[${rows(3_000)}],"local/A":[{"timestamp":1,"value":5}]}${LONG}}`,
  ],
  [
    'points that come twice',
    `{"points":{"local/A":[${rows(3_000)}]},"points":{"local/B":[${rows(3_000)}]}${LONG}}`,
  ],
  ['points that are an array', `{"points":[${rows(6_000)}]${LONG}}`],
  ['a body that is an array', `[${rows(6_000)}${LONG}]`],
  ['points of a single letter', `{"points":"x"${LONG}}`],
  ['a wrong createTags', `{"points":{"local/A":[${rows(6_000)}]},"createTags":1${LONG}}`],
  [
    'many unknown fields',
    `{"points":{"local/A":[${rows(6_000)}],"local/B":[{"timestamp":1,"value":1,"tag":2}]},"nope":{"a":[${rows(3_000)}]}}`,
  ],
  [
    'fields named like parts of objects',
    `{"__proto__":{"now":1},"points":{"__proto__":[${rows(6_000)}],"constructor":[${rows(10)}]}}`,
  ],
] as const) {
  test(`${title}: the same in chunks and at once`, async () => {
    await bothWays(text)
  })
}

test('what is no JSON behind valid points writes nothing', async () => {
  const [local, lab] = await plant()
  for (const end of ['', ']}', ',}}', '}}}', '},"now"}', '},"now":nul}']) {
    const text = `{"points":{"local/A":[${rows(6_000)}]${end}`
    const call = writeCall([local!, lab!])
    const { outcome, body } = await writeBody(
      Buffer.from(text),
      call,
      reader,
      () => {},
      () => {},
    )
    assert.equal(outcome, 'refused', end)
    assert.equal(body.issues![0]!.code, 'INVALID_JSON')
  }
  assert.equal(JSON.stringify(await contents(local!)).includes('points":[['), false)
})

/** More values than may be made of a body, in 3 MB. */
const MANY = Array(1_000_001).fill('{}').join()
const POINTS = rows(6_000)

for (const [title, text] of [
  ['a field that is not known', `{"x":[${MANY}],"points":{"local/A":[${POINTS}]}}`],
  ['such a field behind the points', `{"points":{"local/A":[${POINTS}]},"x":[${MANY}]}`],
  [
    'many such fields',
    `{${Array.from({ length: 100 }, (_, i) => `"x${i}":[${Array(11_000).fill('[]').join()}]`).join()},"points":{"local/A":[${POINTS}]}}`,
  ],
  ['columns', `{"points":{"local/A":[${POINTS}],"local/B":{"timestamps":[1],"values":[${MANY}]}}}`],
  ['fields beside columns', `{"points":{"local/A":{"timestamps":[1],"values":[1],"x":{"y":[[${MANY}]]}}}}`],
  ['a point', `{"points":{"local/A":[${POINTS},{"timestamp":1,"value":1,"x":[${MANY}]}]}}`],
  ['an array instead of a point', `{"points":{"local/A":[${POINTS},[${MANY}]]}}`],
] as const) {
  test(`very many values in ${title} are refused before they are made`, async () => {
    const [local, lab] = await plant()
    let held = 0
    const hold = (values: number) => {
      held = values
    }
    const bytes = Buffer.from(text)
    const { outcome, body } = await writeBody(bytes, writeCall([local!, lab!]), reader, () => {}, hold)
    assert.equal(outcome, 'limit')
    assert.deepEqual(
      body.issues!.map(({ code }) => code),
      ['LIMIT_JSON'],
    )
    assert.equal(held, 0)
  })
}

test('points are not among the values of a body, whether they are rows or columns', async () => {
  const length = 600_000
  const row = Array.from({ length }, (_, i) => `{"value":${i % 7},"timestamp":${i}.5}`).join()
  const times = Array.from({ length }, (_, i) => i).join()
  const values = Array(length).fill(1).join()
  const text = `{"x":[[1,2],3],"points":{"local/A":[${row}],"local/B":{"values":[${values}],"timestamps":[${times}]}}}`
  const local = await historianWith('local', ['A', 'B'])
  const held: number[] = []
  const hold = (count: number) => {
    held.push(count)
  }
  const { outcome } = await writeBody(Buffer.from(text), writeCall([local]), reader, () => {}, hold)
  assert.equal(outcome, 'done')
  assert.equal(held.length, 1)
  assert.ok(held[0]! > 0 && held[0]! < 20, `${held[0]} values`)
})
