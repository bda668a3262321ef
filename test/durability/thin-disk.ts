import { rmSync } from 'node:fs'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { hardRequest } from './hard-request.ts'

// Run by thin-disk.test.ts on a disk whose storage runs out: writes requests of some 40 kB until many have failed,
// reads what is there, makes room for the disk, writes some more, and tells what became of each request.

const [folder, filler] = process.argv.slice(2)
const TAGS = 20
const POINTS = 250
const FAILURES = 40
const AFTERWARDS = 20

const { signal } = new AbortController()
const store = await openFileStore(folder!, {
  historian: 'plant',
  owner: true,
  limits: {
    flush: { points: 60_000, records: 1e9, ageMs: 1e9, idle: { points: 20_000, afterMs: 50 } },
    unlinkAfterMs: 0,
    reserveBytes: 1 << 20,
  },
})

const request = (number: number) => hardRequest(number, TAGS, POINTS)

const outcomes: { number: number; code: string }[] = []
let failures = 0
let number = 0
async function write(): Promise<void> {
  const mine = number++
  await store.write(request(mine), signal).then(
    () => outcomes.push({ number: mine, code: 'ok' }),
    (error) => {
      failures++
      outcomes.push({ number: mine, code: String(error.code) })
    },
  )
}
while (failures < FAILURES && number < 5_000) await write()
const range = { tag: 't0', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
const [read] = await store.readRanges([range], signal)
const stored = [...new Set([...read!.points.times].map((time) => Math.floor(time / POINTS)))]
const before = outcomes.length
rmSync(filler!)
for (let i = 0; i < AFTERWARDS; i++) await write()
console.log(JSON.stringify({ before, outcomes, stored }))
process.exit()
