import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedHistorian, embedded } from '../../src/drivers/embedded/driver.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { NO_METER } from '../../src/historian/remote/meter.ts'
import type { FoldLimits } from '../../src/storage/folder.ts'
import type { HistorianStore } from '../../src/storage/historian-store.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { historianContract } from './historian-contract.ts'

// Some thousands of commands for each of the ways below.
process.env.CONTRACT_RUNS ??= '60'

const log = { info() {}, warn() {}, error() {} }

interface Opened {
  readonly historian: Historian
  fold?(): Promise<void>
  close(): Promise<void>
}

async function start(open: (directory: string) => Promise<Opened>) {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-contract-'))
  let opened = await open(directory)
  return {
    historian: opened.historian,
    async reopen() {
      await opened.close()
      opened = await open(directory)
      return opened.historian
    },
    fold: async () => opened.fold?.(),
    async stop() {
      await opened.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

historianContract({
  name: 'embedded',
  start: () =>
    start(async (directory) => {
      const context = { name: 'plant', directory, log, meter: NO_METER }
      const historian = await embedded.open({ writable: true }, context)
      return { historian, close: () => historian.close() }
    }),
  exceptions: [],
})

const openStore = (directory: string, fold: FoldLimits, owner = true): Promise<HistorianStore> =>
  openHistorianStore(directory, { historian: 'plant', owner, fold })

/** Points move into blocks all the time, and most reads meet some in both. */
const RESTLESS: FoldLimits = { points: 5, records: 2, ageMs: 1 }

historianContract({
  name: 'embedded that folds all the time',
  start: () =>
    start(async (directory) => {
      const store = await openStore(directory, RESTLESS)
      return {
        historian: new EmbeddedHistorian(store, true),
        fold: () => store.fold(),
        close: () => store.close(),
      }
    }),
  exceptions: [],
})

/** Points stay in the journal until somebody has them folded. */
const NEVER: FoldLimits = { points: 1e9, records: 1e9, ageMs: 1e9 }

historianContract({
  name: 'embedded that folds when it is told',
  start: () =>
    start(async (directory) => {
      const store = await openStore(directory, NEVER)
      return {
        historian: new EmbeddedHistorian(store, true),
        fold: () => store.fold(),
        close: () => store.close(),
      }
    }),
  exceptions: [],
})

historianContract({
  name: 'embedded that reads what another writes',
  start: () =>
    start(async (directory) => {
      const owner = await openStore(directory, { ...RESTLESS, points: 200, records: 9 })
      const writing = new EmbeddedHistorian(owner, true)
      const store = await openStore(directory, NEVER, false)
      const change = (method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> =>
        // biome-ignore lint/suspicious/noExplicitAny: any change of the contract by its name, as from another process
        (writing as any)[method](...args, { signal })
      return {
        historian: new EmbeddedHistorian(store, true, { change }),
        fold: () => owner.fold(),
        close: async () => {
          await store.close()
          await owner.close()
        },
      }
    }),
  exceptions: [],
})
