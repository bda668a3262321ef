import { statfsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { hardRequest } from './hard-request.ts'

// Run by tests on a small disk: writes requests of some 200 kB until many have failed, reads and deletes on the full
// disk, and tells what was acknowledged and what then is there.

/** Tags of a request, and points of each: records of one size, and more or less to flush. */
const SHAPES = [
  [60, 200],
  [2, 6_000],
  [1_000, 12],
] as const
const [TAGS, POINTS] = SHAPES[Number(process.argv[3]) - 1]!
const FAILURES = 60

const { signal } = new AbortController()
const store = await openFileStore(process.argv[2]!, {
  historian: 'plant',
  owner: true,
  limits: {
    flush: {
      points: 200_000,
      records: 1e9,
      ageMs: 1e9,
      idle: { points: 20_000, afterMs: 50 },
      packedAside: 100_000,
    },
    unlinkAfterMs: 0,
    reserveBytes: 8 * 2 ** 20,
  },
})
const tagOf = (index: number) => `t${index}`

const request = (number: number) => hardRequest(number, TAGS, POINTS)

const acknowledged: number[] = []
let leastFree = Number.POSITIVE_INFINITY
const errors = new Set<string>()
let failed = 0
for (let number = 0; failed < FAILURES; ) {
  // Several at once share a commit.
  const numbers = Array.from({ length: 1 + ((number * 7) % 10) }, () => number++)
  const outcomes = await Promise.allSettled(numbers.map((each) => store.write(request(each), signal)))
  const { bavail, bsize } = statfsSync(process.argv[2]!)
  leastFree = Math.min(leastFree, bavail * bsize)
  outcomes.forEach((outcome, index) => {
    if (outcome.status === 'fulfilled') acknowledged.push(numbers[index]!)
    else {
      failed++
      errors.add(`${outcome.reason.code}: ${outcome.reason.message}`)
    }
  })
}
const range = { tag: tagOf(TAGS - 1), from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
const [read] = await store.readRanges([range], signal)
const stored = [...new Set([...read!.points.times].map((time) => Math.floor(time / POINTS)))]
let deleted = 0
for (let tag = 0; tag < TAGS - 1; tag++) {
  const range = { tag: tagOf(tag), from: -1, to: 1e15 }
  deleted += (await store.deletePoints([range], false, signal))[0]!
}
// What was deleted leaves the disk with the next merge, and then there is room for more.
await store.flush().catch(() => {})
let again = ''
for (let tries = 0; tries < 1_000 && again !== 'ok'; tries++) {
  again = await store.write(request(1e6), signal).then(
    () => 'ok',
    (error) => String(error.message),
  )
  if (again !== 'ok') await wait(100)
}
await store.close()
console.log(JSON.stringify({ acknowledged, stored, errors: [...errors], deleted, again, leastFree }))
