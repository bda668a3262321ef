import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedHistorian } from '../../src/drivers/embedded/driver.ts'
import { ENGINE_LIMITS, type EngineLimits } from '../../src/storage/engine/engine-limits.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import type { Files } from '../../src/storage/files/files.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { historianContract } from './historian-contract.ts'

// Some thousands of commands for each of the ways below.
process.env.CONTRACT_RUNS ??= '12'

/** Parts are merged as soon as there are two, and cut into months almost at once. */
const SMALL_MERGES: EngineLimits['merge'] = { partitionBytes: 4_000, fanIn: 2, largestBytes: 1 << 20 }

const limitsOf = (flush: EngineLimits['flush']): Partial<EngineLimits> => ({
  flush,
  merge: SMALL_MERGES,
  idleMergeAfterMs: 3,
  cacheBytes: 100_000,
  unlinkAfterMs: 20,
  reserveBytes: 0,
})

function declare(name: string, limits: Partial<EngineLimits>, files?: () => Files): void {
  const open = (directory: string): Promise<FileStore> =>
    openFileStore(directory, {
      historian: 'plant',
      owner: true,
      limits,
      ...(files === undefined ? {} : { files: files() }),
    })
  historianContract({
    name,
    async start() {
      const directory = mkdtempSync(join(tmpdir(), 'tidemark-contract-'))
      let store = await open(directory)
      return {
        historian: new EmbeddedHistorian(store, true),
        async reopen() {
          await store.close()
          store = await open(directory)
          return new EmbeddedHistorian(store, true)
        },
        flush: () => store.flush(),
        async stop() {
          await store.close()
          rmSync(directory, { recursive: true, force: true })
        },
      }
    },
    exceptions: [],
  })
}

declare('embedded', { reserveBytes: 0 })

/** Points move into parts all the time, and most reads meet some in both. */
declare('embedded that is flushed all the time', limitsOf({ points: 5, records: 2, ageMs: 1 }))

/** Points stay in the log until somebody has them flushed, which another thread does. */
declare(
  'embedded that is flushed when it is told',
  limitsOf({ points: 1e9, records: 1e9, ageMs: 1e9, packedAside: 1 }),
)

/** Everything happens in one thread, through the layer that tests put in place of the system's. */
declare(
  'embedded through another file layer',
  limitsOf({ points: 200, records: 9, ageMs: 5 }),
  () => new FailingFiles(systemFiles),
)

function declareFollowing(name: string, unlinkAfterMs: number): void {
  historianContract({
    name,
    async start() {
      const directory = mkdtempSync(join(tmpdir(), 'tidemark-contract-'))
      const limits = { ...limitsOf({ points: 200, records: 9, ageMs: 1 }), unlinkAfterMs }
      const openBoth = async () => {
        const owner = await openFileStore(directory, { historian: 'plant', owner: true, limits })
        const reader = await openFileStore(directory, { historian: 'plant', owner: false, limits })
        const writing = new EmbeddedHistorian(owner, true)
        const change = (method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> =>
          // biome-ignore lint/suspicious/noExplicitAny: any change of the contract by its name, as from another process
          (writing as any)[method](...args, { signal })
        return { owner, reader, historian: new EmbeddedHistorian(reader, true, { change }) }
      }
      let both = await openBoth()
      const close = async () => {
        await both.reader.close()
        await both.owner.close()
      }
      return {
        historian: both.historian,
        async reopen() {
          await close()
          both = await openBoth()
          return both.historian
        },
        flush: () => both.owner.flush(),
        async stop() {
          await close()
          rmSync(directory, { recursive: true, force: true })
        },
      }
    },
    exceptions: [],
  })
}

declareFollowing('embedded that another process writes', ENGINE_LIMITS.unlinkAfterMs)

/** What is read is gone all the time, and is read anew. */
declareFollowing('embedded that another process writes, whose files are removed at once', 0)
