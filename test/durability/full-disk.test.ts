import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const FILLS = Number(process.env.DISK_FILLS ?? 200)
/** What the disk of a fill refuses with, by turns, and how the error of a write says it. */
const REFUSALS = [
  ['ENOSPC', /the disk is full/],
  ['EDQUOT', /the disk quota is used up/],
  ['EFBIG', /the file may not grow any further/],
] as const
const { signal } = new AbortController()
const ALL = { from: -1e15, to: 1e15, order: 'asc', limit: 1e7 } as const

/**
 * What is set aside for a full disk: as much beside a flush as by default, and less than one, which a flush may use up
 * for nothing.
 */
const RESERVES = { ample: 60_000, scarce: 20_000 }

const open = (disk: SimulatedDisk, folder: string, reserveBytes: number): Promise<FileStore> =>
  openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files: disk,
    limits: {
      flush: { points: 3_000, records: 50, ageMs: 1e9 },
      merge: { partitionBytes: 20_000, fanIn: 2, largestBytes: 1 << 20 },
      unlinkAfterMs: 0,
      reserveBytes,
    },
  })

/** Points that are hard to pack. */
function batchOf(from: number, count: number) {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i
    points.values[i] = Math.sqrt(from + i)
  }
  return writeBatch([{ tag: 'a', points }], true)
}

async function timesOf(store: FileStore): Promise<Float64Array> {
  const [read] = await store.readRanges([{ tag: 'a', ...ALL }], signal)
  return read!.points.times
}

async function assertWritten(store: FileStore, from: number, to: number, what: string): Promise<void> {
  const times = await timesOf(store)
  assert.equal(times.length, to - from, what)
  assert.ok(
    times.every((time, i) => time === from + i),
    what,
  )
}

test('a disk that fills up loses nothing, answers reads, and takes more once points were taken away', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-full-'))
  const refused = { ENOSPC: 0, EDQUOT: 0, EFBIG: 0 }
  let late = 0
  let freed = 0
  try {
    for (let fill = 0; fill < FILLS; fill++) {
      const [refusal, reason] = REFUSALS[fill % REFUSALS.length]!
      const disk = new SimulatedDisk()
      disk.refusal = refusal
      const isAmple = fill % 2 === 0
      const reserve = isAmple ? RESERVES.ample : RESERVES.scarce
      disk.capacity = (isAmple ? 260_000 : 60_000) + fill * 997
      let store = await open(disk, folder, reserve)
      let written = 0
      const step = 50 + ((fill * 37) % 400)
      for (let failures = 0; failures < 4; ) {
        try {
          await store.write(batchOf(written, step), signal)
          written += step
        } catch (error) {
          assert.ok(error instanceof TidemarkError && error.code === 'WRITE_FAILED', String(error))
          assert.match(error.message, reason)
          failures++
          refused[refusal]++
          await assertWritten(store, 0, written, `fill ${fill}: what is read on a full disk`)
        }
      }
      if (fill % 4 < 2) {
        await store.close()
        store = await open(disk, folder, reserve)
        await assertWritten(store, 0, written, `fill ${fill}: what is there after a start on a full disk`)
      }
      // What is taken away makes room, with what was set aside for that.
      const cut = Math.floor(written * 0.8)
      const deleted = await store.deletePoints([{ tag: 'a', from: -1, to: cut }], false, signal).then(
        ([count]) => count,
        (error: unknown) => {
          assert.ok(error instanceof TidemarkError && error.code === 'WRITE_FAILED', String(error))
          return 0
        },
      )
      if (deleted === cut) freed++
      else assert.ok(deleted === 0 && !isAmple, `fill ${fill}: ${deleted} points of ${cut} were taken away`)
      await assertWritten(
        store,
        deleted === 0 ? 0 : cut,
        written,
        `fill ${fill}: after points were taken away`,
      )
      // More room, as when somebody has cleared up: one that started on the full disk becomes the owner by and by, and
      // what is set aside for such a disk is taken back first.
      disk.capacity *= 2
      for (let isWritten = false; !isWritten; ) {
        isWritten = await store.write(batchOf(written, step), signal).then(
          () => true,
          (error: unknown) => {
            assert.ok(
              /no room to become the owner/.test(String(error)) || reason.test(String(error)),
              String(error),
            )
            return false
          },
        )
        if (!isWritten) {
          late++
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
      await store.flush()
      await assertWritten(store, deleted === 0 ? 0 : cut, written + step, `fill ${fill}: in the end`)
      assert.deepEqual((await store.check(signal)).problems, [])
      await store.close()
    }
    const { ENOSPC, EDQUOT, EFBIG } = refused
    const all = `${ENOSPC} writes with ENOSPC, ${EDQUOT} with EDQUOT, ${EFBIG} with EFBIG`
    t.diagnostic(
      `${FILLS} fills: ${all} were refused, and ${late} more after there was room; points were taken away on ${freed} disks that were full`,
    )
    assert.ok(freed >= FILLS * 0.8, `${freed} of ${FILLS}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
