import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { embedded } from '../../src/drivers/embedded/driver.ts'
import { NO_METER } from '../../src/historian/remote/meter.ts'
import { openDataDirectory } from '../../src/storage/data-directory.ts'
import { checkDataDirectory } from '../../src/storage/maintenance.ts'
import { EVER } from '../contract/points.ts'
import { temporaryFolder } from './folder.ts'
import { pointsOfRequest, TAGS_OF_WRITER, WRITERS } from './kill-plan.ts'

/** Rounds of kill and restart; more with KILL_ROUNDS=n. */
const ROUNDS = Number(process.env.KILL_ROUNDS ?? 6)

const signal = new AbortController().signal
const log = { info() {}, warn() {}, error() {} }

/** Runs the writing child for a while, kills it, and gives the number of requests that each writer had acknowledged. */
async function writeUntilKilled(path: string, first: readonly number[]): Promise<number[]> {
  const acknowledged = [...first]
  const child = fork(join(import.meta.dirname, 'kill-writer.ts'), [path, JSON.stringify(first)])
  const exited = new Promise((resolve) => child.on('exit', resolve))
  let killed = false
  let started: () => void
  const writing = new Promise<void>((resolve) => {
    started = resolve
  })
  child.on('message', ([writer, sequence]: [number, number]) => {
    acknowledged[writer] = sequence
    started()
  })
  await Promise.race([
    writing,
    exited.then(() => assert.ok(killed, 'the writer ended before it wrote anything')),
  ])
  await setTimeout(Math.random() * 120)
  killed = child.kill('SIGKILL')
  await exited
  return acknowledged
}

test('a kill at any moment loses nothing acknowledged and leaves nothing in part', async (t) => {
  const path = temporaryFolder(t)
  let acknowledged: number[] = Array(WRITERS).fill(0)
  for (let round = 0; round < ROUNDS; round++) {
    acknowledged = await writeUntilKilled(path, acknowledged)

    // The dead owner does not stand in the way.
    const directory = await openDataDirectory(path, { owner: true })
    const historian = await embedded.open(
      { writable: true },
      { name: 'local', directory: directory.historianDirectory('local'), log, meter: NO_METER },
    )
    for (let writer = 0; writer < WRITERS; writer++) {
      const read = await historian.readRanges(
        TAGS_OF_WRITER.map((tag) => ({ tag: `${tag}-${writer}`, ...EVER, order: 'asc', limit: 1e7 })),
        { signal },
      )
      const found = read.map(({ points }) => points)
      // The newest request that is there at all, acknowledged or not, tells by its mark.
      const last = found[0]!.values.reduce((most, value) => Math.max(most, value), 0)
      assert.ok(last >= acknowledged[writer]!, `writer ${writer}: ${last} of ${acknowledged[writer]}`)
      for (const [index, columns] of found.entries()) {
        const expected = new Map<number, number>()
        for (let sequence = 1; sequence <= last; sequence++) {
          const { times, values } = pointsOfRequest(index, sequence)
          times.forEach((time, place) => {
            expected.set(time, values[place]!)
          })
        }
        assert.equal(columns.times.length, expected.size, `writer ${writer}, tag ${index}`)
        columns.times.forEach((time, place) => {
          assert.equal(columns.values[place], expected.get(time))
        })
      }
      acknowledged[writer] = last
    }
    await historian.close()
    await directory.close()
    const check = await checkDataDirectory(path, signal)
    assert.ok(check.isSound, JSON.stringify(check))
  }
  assert.ok(
    acknowledged.every((sequence) => sequence > 0),
    'every writer had its turn',
  )
})
