import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contents, historianWith, NOW, writeCall } from '../../test/write/call.ts'
import { parseTime } from '../time/parse.ts'
import { UTC } from '../time/zone.ts'
import { deletePoints, deleteTags } from './corrections.ts'
import { createMetadata, getMetadata, updateMetadata } from './metadata.ts'
import { renameTags } from './rename.ts'
import { writePoints } from './write-points.ts'

const address = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('local/A', 'local/B', 'local/new', 'other/A', 'other/new') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('archive/A', 'calc/ADD(1,2)', 'none/A', '__proto__', 'local/', ''),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
)
/** Mostly as it should be: with a share of bad points in each request, hardly one would be written. */
const rarely = (good: fc.Arbitrary<unknown>, bad: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 60, arbitrary: good }, { weight: 1, arbitrary: bad })
const time = rarely(
  fc.oneof(
    fc.constantFrom('now', '2 hours ago', '2026-01-15T10:00:00Z', '2026-01-15', '*-1h', 1768471200),
    fc.integer({ min: -1e9, max: 1e9 }),
    fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
    fc.double({ min: 1e9, max: 2e9, noNaN: true }),
  ),
  fc.oneof(fc.jsonValue(), fc.constant('soon')),
)
const value = rarely(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.jsonValue())
const status = rarely(fc.constantFrom('OK', 'BAD', null), fc.constantFrom('bad', 0, {}))
const point = rarely(
  fc.record({ timestamp: time, value, status }, { requiredKeys: ['timestamp', 'value'] }),
  fc.jsonValue(),
)
const columns = fc.array(fc.tuple(time, value, status), { maxLength: 6 }).chain((rows) =>
  fc.record(
    {
      timestamps: fc.constant(rows.map((row) => row[0])),
      values: fc.constant(rows.map((row) => row[1])),
      statuses: rarely(fc.constant(rows.map((row) => row[2])), fc.constant([1])),
    },
    { requiredKeys: ['timestamps', 'values'] },
  ),
)
const body = fc.record(
  {
    points: fc.dictionary(
      address,
      rarely(fc.oneof(fc.array(point, { maxLength: 6 }), columns), fc.jsonValue()),
    ),
    createTags: rarely(fc.boolean(), fc.jsonValue()),
    now: rarely(fc.constantFrom(null, '2026-03-29T00:00:00Z'), fc.jsonValue()),
    timeZone: rarely(fc.constantFrom(null, 'UTC', 'Europe/Oslo'), fc.jsonValue()),
  },
  { requiredKeys: ['points'] },
)

async function plant() {
  return Promise.all([
    historianWith('local', ['A', 'B']),
    historianWith('other', ['A']),
    historianWith('archive', ['A'], { writable: false }),
  ])
}

async function dump(historians: Awaited<ReturnType<typeof plant>>) {
  return Promise.all(historians.map(contents))
}

/** A body as it arrives: objects come from JSON, so that `__proto__` is a key of its own. */
function arrived<Body>(sent: Body): Body {
  return JSON.parse(JSON.stringify(sent))
}

interface ModelPoint {
  readonly timestamp: unknown
  readonly value: unknown
  readonly status?: unknown
}

function rowsOf(input: unknown): readonly ModelPoint[] | null {
  if (Array.isArray(input)) return input
  const { timestamps, values, statuses } = (input ?? {}) as Record<string, unknown>
  if (!Array.isArray(timestamps) || !Array.isArray(values) || values.length !== timestamps.length) return null
  const given: unknown[] | null = (statuses ?? null) as unknown[] | null
  if (given !== null && (!Array.isArray(given) || given.length !== values.length)) return null
  return timestamps.map((timestamp, index) => ({ timestamp, value: values[index], status: given?.[index] }))
}

/** What the plant holds after the request, worked out point by point; `null` when something is wrong with it. */
function model(sent: {
  points: Record<string, unknown>
  createTags?: unknown
  now?: unknown
  timeZone?: unknown
}) {
  const local = new Map<string, Map<number, number[]>>([
    ['local/A', new Map()],
    ['local/B', new Map()],
    ['other/A', new Map()],
  ])
  if (!(sent.createTags === undefined || typeof sent.createTags === 'boolean')) return null
  for (const [tag, input] of Object.entries(sent.points)) {
    if (!local.has(tag)) {
      if (sent.createTags !== true || !/^(local|other)\/[^\p{Cc}\p{Cs}]{1,512}$/u.test(tag)) return null
      local.set(tag, new Map())
    }
    const rows = rowsOf(input)
    if (rows === null) return null
    for (const row of rows) {
      if (typeof row !== 'object' || row === null || Array.isArray(row)) return null
      if (typeof row.value !== 'number' || !Number.isFinite(row.value)) return null
      const status = ['OK', 'BAD'].indexOf((row.status ?? 'OK') as string)
      const now = parseTime(sent.now ?? NOW / 1e6, { now: NOW, zone: UTC })
      const at = now === null ? null : parseTime(row.timestamp, { now, zone: UTC })
      if (status < 0 || at === null) return null
      local.get(tag)!.set(at, [at, row.value, status])
    }
  }
  return local
}

test('any body is answered, and is written as a whole or not at all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: body }, { weight: 1, arbitrary: fc.jsonValue() }),
      async (sent) => {
        const historians = await plant()
        const before = await dump(historians)
        const { outcome, body: answered } = await writePoints(arrived(sent), writeCall(historians))
        JSON.stringify(answered)
        if (outcome === 'done') {
          assert.deepEqual(answered.errors, [])
          return
        }
        assert.ok(outcome === 'issues' || outcome === 'refused', outcome)
        assert.ok(answered.errors.length > 0)
        assert.equal(answered.issues!.length, answered.errors.length)
        assert.deepEqual(await dump(historians), before)
      },
    ),
    { numRuns: 300 },
  )
})

test('what is written is what a plain model of the request holds', async () => {
  const inUtc = body.map((sent) => ({ ...sent, timeZone: 'UTC', now: null }))
  let written = 0
  await fc.assert(
    fc.asyncProperty(inUtc, async (sent) => {
      const request = arrived(sent)
      const historians = await plant()
      const expected = model(request)
      const { outcome } = await writePoints(request, writeCall(historians))
      assert.equal(outcome === 'done', expected !== null)
      if (expected === null) return
      written++
      const held = await dump(historians)
      const tags = [0, 1].flatMap((index) =>
        Object.keys(held[index]!).map((tag) => `${historians[index]!.name}/${tag}`),
      )
      assert.deepEqual(new Set(tags), new Set(expected.keys()))
      for (const [tag, points] of expected) {
        const slash = tag.indexOf('/')
        const holder = held[tag.startsWith('local/') ? 0 : 1]!
        const { points: got } = holder[tag.slice(slash + 1)] as { points: number[][] }
        assert.deepEqual(
          got,
          [...points.values()].sort((a, b) => a[0]! - b[0]!),
        )
      }
    }),
    { numRuns: 300 },
  )
  assert.ok(written > 20, `only ${written} requests were written: the test would say little`)
})

const metadata = rarely(
  fc.record(
    {
      description: rarely(fc.constantFrom(null, 'x', 'y'), fc.jsonValue()),
      units: rarely(fc.constantFrom(null, 'bar'), fc.jsonValue()),
      stepped: rarely(fc.constantFrom(null, true, false), fc.jsonValue()),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
)
const metadataBody = fc.record(
  {
    entries: fc.dictionary(address, metadata),
    updateIfExists: rarely(fc.boolean(), fc.jsonValue()),
    createIfMissing: rarely(fc.boolean(), fc.jsonValue()),
  },
  { requiredKeys: ['entries'] },
)

for (const [name, put] of [
  ['create', createMetadata],
  ['update', updateMetadata],
] as const) {
  test(`metadata/${name}: each entry of any body is stored or reported as wrong`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: metadataBody }, { weight: 1, arbitrary: fc.jsonValue() }),
        async (sent) => {
          const request = arrived(sent)
          const historians = await plant()
          const before = await dump(historians)
          const { outcome, body: answered } = await put(request, writeCall(historians))
          const after = await dump(historians)
          if (outcome === 'refused') {
            assert.deepEqual(after, before)
            assert.equal(typeof answered.message, 'string')
            return
          }
          assert.equal(outcome, 'done')
          const keys = Object.keys((request as { entries: object }).entries)
          const reported = [...Object.keys(answered.handledEntries), ...Object.keys(answered.errors)]
          assert.deepEqual(reported.toSorted(), keys.toSorted())
          for (const [tag, stored] of Object.entries(answered.handledEntries)) {
            const holder = after[historians.findIndex((historian) => tag.startsWith(`${historian.name}/`))]!
            assert.deepEqual(holder[tag.slice(tag.indexOf('/') + 1)], { ...stored, points: [] })
          }
          const changed = historians.flatMap((historian, index) =>
            Object.keys(after[index]!).filter((tag) => {
              const [old, now] = [before[index]![tag], after[index]![tag]]
              return (
                JSON.stringify(old) !== JSON.stringify(now) &&
                !(`${historian.name}/${tag}` in answered.handledEntries)
              )
            }),
          )
          assert.deepEqual(changed, [])
        },
      ),
      { numRuns: 200 },
    )
  })
}

const anyCorrection = fc.oneof(
  fc.record({
    ranges: fc.dictionary(
      address,
      rarely(fc.array(rarely(fc.record({ from: time, to: time }), fc.jsonValue())), fc.jsonValue()),
    ),
    tags: fc.array(rarely(address, fc.jsonValue())),
    renames: fc.dictionary(address, rarely(address, fc.jsonValue())),
    dryRun: rarely(fc.boolean(), fc.jsonValue()),
  }),
  fc.jsonValue(),
)

for (const [name, correct] of [
  ['delete/points', deletePoints],
  ['metadata/delete', deleteTags],
  ['metadata/rename', renameTags],
] as const) {
  test(`${name}: any body is answered, and changes nothing when something is wrong or it is a dry run`, async () => {
    await fc.assert(
      fc.asyncProperty(anyCorrection, async (sent) => {
        const request = arrived(sent)
        const historians = await plant()
        const before = await dump(historians)
        const { outcome, body: answered } = await correct(request, writeCall(historians))
        assert.ok(['done', 'issues', 'refused'].includes(outcome), outcome)
        assert.equal(outcome === 'done', answered.errors.length === 0)
        const dryRun = (request as { dryRun?: unknown } | null)?.dryRun === true
        if (outcome !== 'done' || dryRun) assert.deepEqual(await dump(historians), before)
      }),
      { numRuns: 200 },
    )
  })
}

test('metadata/get: any body is answered', async () => {
  const historians = await plant()
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.record({ tags: fc.array(address) }), fc.jsonValue()), async (sent) => {
      const { outcome, body: answered } = await getMetadata(arrived(sent), writeCall(historians))
      if (outcome === 'refused') return
      assert.equal(outcome, 'done')
      const reported = new Set([...Object.keys(answered.entries), ...Object.keys(answered.errors)])
      assert.deepEqual(reported, new Set((arrived(sent) as { tags: string[] }).tags))
    }),
    { numRuns: 200 },
  )
})
