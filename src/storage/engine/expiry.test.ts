import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDue } from '../../../test/always-due.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { keep, TestClock } from '../../../test/property/retention-model.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { Expired } from '../merge/expired.ts'
import { Expiry } from './expiry.ts'
import { openFileStore } from './open-file-store.ts'

const SECOND = 1_000_000
const START = 1_700_000_000 * SECOND
const { signal } = new AbortController()
const TAGS = 3_000
const POINTS = 10

test('what has expired of thousands of tags in several parts is told in their order, in steps', async (t) => {
  const clock = new TestClock(START)
  const store = await openFileStore(temporaryFolder(t), {
    historian: 'plant',
    owner: true,
    retention: { rules: [keep('old*', 100)], time: clock },
    limits: {
      reserveBytes: 0,
      retentionEveryMs: 1e9,
      idleMergeAfterMs: 1e9,
      merge: { partitionBytes: 1 << 30, fanIn: 100, largestBytes: 1 << 30 },
    },
  })
  t.after(() => store.close())
  await store.retain()
  const nameOf = (i: number) => `${i % 3 === 0 ? 'old' : 'kept'} ${i}`
  const timeOf = (i: number, second: number) => START + second * SECOND + i
  // The second part has every other tag, and others than the first.
  for (const [first, step, second] of [
    [0, 1, 0],
    [1, 2, 10],
  ] as const) {
    const tags = Array.from({ length: TAGS }, (_, i) => first + step * i)
    await store.write(
      writeBatch(
        tags.map((i) => {
          // Most points are of tags whose points expire: their parts are worth a merge.
          const count = i % 3 === 0 ? POINTS : 1
          const points = makeColumns(count)
          for (let at = 0; at < count; at++) points.times[at] = timeOf(i, second + at)
          if (count > 1) points.statuses[count - 1] = 1
          return { tag: nameOf(i), points }
        }),
        true,
      ),
      signal,
    )
    await store.flush()
  }
  const found: (Expired | null)[] = []
  const pauses: number[] = []
  const countPauses = alwaysDue(t)
  const { ofParts } = Expiry.prototype
  t.mock.method(
    Expiry.prototype,
    'ofParts',
    async function (this: Expiry, ...args: Parameters<typeof ofParts>) {
      const before = countPauses()
      const expired = await ofParts.apply(this, args)
      pauses.push(countPauses() - before)
      found.push(expired)
      return expired
    },
  )
  clock.us += 1_000 * SECOND
  await store.retain()
  await until(() => found.length === 2, 'both parts are trimmed')
  const idOf = new Map<number, number>()
  for (let i = 0; i < TAGS; i++) idOf.set(i, i + 1)
  for (let i = 0, next = TAGS; i < TAGS; i++) if (1 + 2 * i >= TAGS) idOf.set(1 + 2 * i, ++next)
  const inFirst = (i: number) => i < TAGS
  const inSecond = (i: number) => i % 2 === 1
  const matching = [...idOf.keys()].filter((i) => i % 3 === 0).sort((a, b) => a - b)
  const expectedOf = (isIn: (i: number) => boolean) =>
    matching.filter(isIn).map((i) => {
      const newest = (inSecond(i) ? 10 : 0) + POINTS - 1
      return [idOf.get(i), timeOf(i, newest - 1), timeOf(i, newest)]
    })
  const shown = found.map((expired) =>
    Array.from(expired!.tags, (tag, i) => [tag, expired!.good[i], expired!.newest[i]]),
  )
  shown.sort((a, b) => a.at(-1)![0]! - b.at(-1)![0]!)
  assert.deepEqual(shown, [expectedOf(inFirst), expectedOf(inSecond)])
  // Of 16 tags each, also of those that no rule matches.
  for (const count of pauses) assert.ok(count >= Math.floor(TAGS / 16), `${count} pauses`)
})
