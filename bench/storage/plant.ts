import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { type HistorianStore, openHistorianStore } from '../../src/storage/historian-store.ts'
import { seededRandom } from '../measure.ts'

export const { signal } = new AbortController()
export const SECOND = 1_000_000
export const START = Date.UTC(2025, 0, 1) * 1_000

/** An empty historian in a folder of its own, and how large its file is. */
export async function openBenchStore(): Promise<{
  readonly store: HistorianStore
  fileBytes(): number
  close(): Promise<void>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const store = await openHistorianStore(folder, { historian: 'bench', owner: true })
  return {
    store,
    fileBytes: () => statSync(join(folder, 'data.mdb')).size,
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
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
