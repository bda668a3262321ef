import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import type { EngineLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { goldenSuite } from './suite.ts'

/** Every command is flushed into a part of its own, so that what is read has summaries, and seams between blocks. */
const FLUSHED: Partial<EngineLimits> = { flush: { points: 2, records: 1, ageMs: 1 }, reserveBytes: 0 }

function declare(name: string, limits: Partial<EngineLimits>): void {
  goldenSuite({
    name,
    start: async () => {
      const root = mkdtempSync(join(tmpdir(), 'tidemark-golden-'))
      const open = new Map<string, FileStore>()
      let folders = 0
      return {
        empty: async (historian) => {
          await open.get(historian)?.close()
          const directory = join(root, String(folders++))
          const store = await openFileStore(directory, { historian, owner: true, limits })
          open.set(historian, store)
          return new EmbeddedHistorian(store, true)
        },
        stop: async () => {
          for (const store of open.values()) await store.close()
          rmSync(root, { recursive: true, force: true })
        },
      }
    },
  })
}

declare('embedded', { reserveBytes: 0 })
declare('embedded that is flushed all the time', FLUSHED)
