import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { TestClock } from '../../../test/property/retention-model.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { TagWatermarks } from '../retention/tag-watermarks.ts'
import { openFileStore } from './open-file-store.ts'

const { signal } = new AbortController()
const TAGS = 100_000
const NOW_US = 1_700_000_000_000_000
const HOUR_US = 3_600_000_000
const names = Array.from({ length: TAGS }, (_, i) => `tag ${i}`)

test('a read of very many tags matches them with rules of retention in slices, under the names of its state', async (t) => {
  const store = await openFileStore(temporaryFolder(t), {
    historian: 'plant',
    owner: true,
    limits: { reserveBytes: 0 },
    retention: {
      rules: [{ match: 'tag *', keep: { kind: 'exact', us: HOUR_US } }],
      time: new TestClock(NOW_US),
    },
  })
  t.after(() => store.close())
  const points = makeColumns(3)
  points.times.set([NOW_US - 4, NOW_US - 3, NOW_US - 2])
  points.values.set([1, 2, 3])
  await store.write(
    writeBatch(
      names.map((tag) => ({ tag, points })),
      true,
    ),
    signal,
  )
  // A tag that is made: what is known of names counts no more.
  await store.write(writeBatch([{ tag: 'another', points }], true), signal)

  let inTurn = 0
  let most = 0
  let all = 0
  const { of } = TagWatermarks.prototype
  t.mock.method(
    TagWatermarks.prototype,
    'of',
    function (this: TagWatermarks, ...args: Parameters<typeof of>) {
      all++
      most = Math.max(most, ++inTurn)
      return of.apply(this, args)
    },
  )
  const turns = setInterval(() => {
    inTurn = 0
  })
  t.after(() => clearInterval(turns))
  // The first point of each, which is not remembered as the newest one is.
  const queries = names.map((tag) => ({ tag, find: 'after', at: NOW_US - 10 }) as const)
  const reading = store.readPoints(queries, signal)
  assert.ok(reading instanceof Promise, 'it lets others in')
  // Asked while it is under way: it goes on with what it began with.
  const renamed = store.renameTags([{ from: names.at(-1)!, to: 'renamed' }], false, signal)
  const { values } = await reading
  await renamed
  assert.ok(values.every((value) => value === 1))
  assert.ok(all >= TAGS, String(all))
  assert.ok(most <= TAGS / 2, `${most} of ${TAGS} in one turn of the event loop`)
})
