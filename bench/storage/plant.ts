import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { ENGINE_LIMITS, type FlushLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { seededRandom } from '../measure.ts'

export const { signal } = new AbortController()
export const SECOND = 1_000_000
export const START = Date.UTC(2025, 0, 1) * 1_000

/** An empty historian in a folder of its own, and how large it is on disk. */
export async function openBenchStore(flush: Partial<FlushLimits> = {}): Promise<{
  readonly store: FileStore
  /** Bytes of all files but the reserve. */
  fileBytes(): number
  /** Closes it, removes it, and gives the bytes of its parts. */
  close(): Promise<number>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const limits = { flush: { ...ENGINE_LIMITS.flush, ...flush }, unlinkAfterMs: 0 }
  const store = await openFileStore(folder, { historian: 'bench', owner: true, limits })
  return {
    store,
    fileBytes: () => bytesIn(folder, (path) => !path.endsWith('/reserve')),
    async close() {
      await store.close()
      const bytes = bytesIn(folder, (path) => path.endsWith('.part'))
      rmSync(folder, { recursive: true, force: true })
      return bytes
    },
  }
}

/** Bytes of the files below a folder that are wanted. */
export function bytesIn(folder: string, isWanted: (path: string) => boolean): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(isWanted)
    .reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/**
 * A seeded random walk of 0.02 per step with noise of sigma 0.01, to 3 decimals: values one after the other, in
 * thousandths.
 */
export function randomWalk(seed: number): () => number {
  const random = seededRandom(seed)
  let level = 50
  return () => {
    level += random() < 0.5 ? -0.02 : 0.02
    // Box and Muller: one normally distributed number from two uniform ones.
    const noise = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return Math.round((level + 0.01 * noise) * 1_000)
  }
}

/** Points at 1 Hz from an index on, all good. */
export function atOneHertz(from: number, count: number, value: (index: number) => number): PointColumns {
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) {
    columns.times[i] = START + (from + i) * SECOND
    columns.values[i] = value(from + i)
  }
  return columns
}
