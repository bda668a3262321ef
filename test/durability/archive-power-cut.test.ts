import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { archiveFolderOf } from '../../src/storage/archive/archive-file.ts'
import { planReplay } from '../../src/storage/archive/read-archive.ts'
import { foldersOf } from '../../src/storage/engine/folders.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { listManifests, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import { changeOne } from './archive-writer.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const { signal } = new AbortController()
const LIVES = 3
const CHANGES = 8

/** Makes changes in some lives of a historian, each of which archives at its end, until the power is cut. */
async function live(folder: string, cutAt: number) {
  const disk = new SimulatedDisk()
  const archive = join(folder, 'archive')
  disk.makeFolder(archive)
  disk.cutAt = cutAt
  let acknowledged = 0
  for (let life = 0; life < LIVES && disk.calls <= cutAt; life++) {
    const store = await open(disk, folder).catch((error: unknown) => {
      assert.ok(disk.calls > cutAt, String(error))
      return null
    })
    if (store === null) continue
    try {
      for (let i = 0; i < CHANGES; i++) {
        await changeOne(store, acknowledged + 1)
        acknowledged++
        if (i === CHANGES >> 1) await store.flush()
      }
    } catch (error) {
      assert.ok(disk.calls > cutAt, String(error))
    }
    await store.close().catch(() => {})
  }
  return { disk, acknowledged }
}

function open(files: SimulatedDisk, folder: string) {
  return openFileStore(folder, {
    historian: 'plant',
    owner: true,
    files,
    archive: { folder: join(folder, 'archive'), everyMs: 3_600_000, keepBytes: 1 << 30 },
    limits: {
      flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
      unlinkAfterMs: 0,
      reserveBytes: 0,
    },
  })
}

test('after a power cut at any moment the archive comes to have every acknowledged change', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-power-'))
  try {
    const whole = await live(folder, Number.POSITIVE_INFINITY)
    assert.equal(whole.acknowledged, LIVES * CHANGES)
    for (let cutAt = 1; cutAt <= whole.disk.calls; cutAt++) {
      const { disk, acknowledged } = await live(folder, cutAt)
      // Numbers that look random and are the same in each run.
      let state = cutAt
      const left = disk.afterCut((below) => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
        return (state >>> 16) % below
      })
      const store = await open(left, folder)
      await store.close()
      const { manifest } = foldersOf(folder)
      const { version } = readManifest(left, manifest, listManifests(left, manifest).at(-1)!)
      const { id } = version
      const archived = { folder: archiveFolderOf(join(folder, 'archive'), 'plant', id), id }
      if (acknowledged === 0 && !left.isFolder(archived.folder)) continue
      const { lastSequence } = planReplay(left, archived, 0, null, signal)
      assert.ok(lastSequence >= acknowledged, `${lastSequence} of ${acknowledged}, cut at call ${cutAt}`)
    }
    t.diagnostic(`${whole.disk.calls} moments`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
