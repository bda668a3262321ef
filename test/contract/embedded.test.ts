import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedHistorian, embedded } from '../../src/drivers/embedded/driver.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { NO_METER } from '../../src/historian/remote/meter.ts'
import type { FoldLimits } from '../../src/storage/folder.ts'
import { openHistorianStore } from '../../src/storage/historian-store.ts'
import { historianContract } from './historian-contract.ts'

const log = { info() {}, warn() {}, error() {} }

async function start(open: (directory: string) => Promise<Historian>) {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-contract-'))
  let historian = await open(directory)
  return {
    historian,
    async reopen() {
      await historian.close()
      historian = await open(directory)
      return historian
    },
    async stop() {
      await historian.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

historianContract({
  name: 'embedded',
  start: () =>
    start((directory) =>
      embedded.open({ writable: true }, { name: 'plant', directory, log, meter: NO_METER }),
    ),
  exceptions: [],
})

/** Points move into blocks all the time, and most reads meet some in both. */
const RESTLESS: FoldLimits = { points: 5, records: 2, ageMs: 1 }

historianContract({
  name: 'embedded that folds all the time',
  start: () =>
    start(
      async (directory) =>
        new EmbeddedHistorian(
          await openHistorianStore(directory, { historian: 'plant', owner: true, fold: RESTLESS }),
          true,
        ),
    ),
  exceptions: [],
})
