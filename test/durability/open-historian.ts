import type { FlushLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'

/**
 * Opens the historian of these tests. Parts are merged as soon as there are two, and cut into months almost at once.
 */
export function openHistorian(folder: string, owner: boolean, flush: FlushLimits): Promise<FileStore> {
  return openFileStore(folder, {
    historian: 'plant',
    owner,
    limits: {
      flush,
      merge: { partitionBytes: 20_000, fanIn: 2, largestBytes: 1 << 22 },
      cacheBytes: 1 << 20,
      unlinkAfterMs: 100,
      reserveBytes: 0,
    },
  })
}
