import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TagMetadata } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { assertPoints, EVER, points } from '../../contract/points.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

const context = { signal: new AbortController().signal }
const upstream = await startUpstream('plant')
const { historian, meter } = await connect(configFor(upstream, 'plant'))
after(() => historian.close())

test('metadata survives the round trip, and changing it leaves the points alone', async () => {
  const tag = 'kept'
  await historian.write(writeBatch([{ tag, points: points([1, 1]) }], true), context)
  const all: TagMetadata[] = [
    { description: '', units: '', stepped: true },
    { description: '\u{1F525} line\nbreak "quoted"', units: 'm³/h', stepped: false },
    { description: 'x'.repeat(10_000), units: null, stepped: true },
    { description: null, units: null, stepped: false },
  ]
  for (const metadata of all) {
    await historian.putTags([{ name: tag, metadata }], 'upsert', context)
    assert.deepEqual(await historian.findTags([tag], context), [metadata])
  }
  const [read] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 2 }], context)
  assertPoints(read!.points, points([1, 1]))
})

test('a description that is longer than the interface takes is refused, with its reason, and other entries are not', async () => {
  const metadata = { description: null, units: null, stepped: false }
  const entries = [
    { name: 'long', metadata: { ...metadata, description: 'x'.repeat(10_001) } },
    { name: 'short', metadata },
  ]
  const [long, short] = await historian.putTags(entries, 'upsert', context)
  assert.throws(
    () => {
      throw long
    },
    {
      code: 'HISTORIAN_REFUSED',
      message:
        /^Historian site refused this: Invalid description x+ for tag plant\/long: null or a text of at most 10000 /,
    },
  )
  assert.equal(short, 'stored')
})

test('a tag that was found is not asked for again for a while, and one that is missing is', async () => {
  await historian.write(writeBatch([{ tag: 'there', points: points([1, 1]) }], true), context)
  meter.reset()
  for (let i = 0; i < 5; i++) await historian.findTags(['there'], context)
  assert.equal(meter.total(), 1)
  for (let i = 0; i < 3; i++)
    assert.deepEqual(await historian.findTags(['there', 'later'], context), [
      { description: null, units: null, stepped: false },
      null,
    ])
  assert.equal(meter.total(), 4)
  await upstream.service.post('/historian/write/points', { createTags: true, points: { 'plant/later': [] } })
  assert.notEqual((await historian.findTags(['later'], context))[0], null)
})

test('a page of tags goes on after any name', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `seek/${String(index).padStart(2, '0')}`)
  await historian.write(
    writeBatch(
      names.map((tag) => ({ tag, points: points() })),
      true,
    ),
    context,
  )
  const page = await historian.searchTags({ pattern: null, after: names[9]!, limit: 5 }, context)
  assert.deepEqual(
    page.tags.map(({ name }) => name),
    names.slice(10, 15),
  )
  assert.equal(page.more, true)
})
