import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import type { FoldLimits } from '../../src/storage/folder.ts'
import type { HistorianStore } from '../../src/storage/historian-store.ts'
import { DATABASES } from '../../src/storage/names.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { seededRandom } from '../measure.ts'

export const { signal } = new AbortController()
export const SECOND = 1_000_000
export const START = Date.UTC(2025, 0, 1) * 1_000

/** An empty historian in a folder of its own, and how large it is on disk. */
export async function openBenchStore(fold: Partial<FoldLimits> = {}): Promise<{
  readonly store: HistorianStore
  fileBytes(): number
  /** Closes it and gives the bytes of all pages that hold anything. */
  close(): Promise<number>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const store = await openHistorianStore(folder, { historian: 'bench', owner: true, fold })
  return {
    store,
    fileBytes: () => statSync(join(folder, 'data.mdb')).size,
    async close() {
      await store.close()
      const used = await usedBytes(folder)
      rmSync(folder, { recursive: true, force: true })
      return used
    },
  }
}

interface TreeStats {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

async function usedBytes(folder: string): Promise<number> {
  const root = openEnvironment(folder)
  let pages = 0
  for (const name of Object.values(DATABASES)) {
    const stats = openDatabase(root, name).getStats() as unknown as TreeStats
    pages += stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
  }
  await root.close()
  return pages * 4_096
}

/** A seeded random walk of 0.02 per step with noise of sigma 0.01, to 3 decimals: values one after the other, in thousandths. */
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
