import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded } from '../../src/drivers/embedded/driver.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { historianContract } from './historian-contract.ts'

const log = { info() {}, warn() {}, error() {} }

historianContract({
  name: 'embedded',
  start: async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-contract-'))
    const open = () => embedded.open({ writable: true }, { name: 'plant', directory, log })
    let historian: Historian = await open()
    return {
      historian,
      async reopen() {
        await historian.close()
        historian = await open()
        return historian
      },
      async stop() {
        await historian.close()
        rmSync(directory, { recursive: true, force: true })
      },
    }
  },
  exceptions: [],
})
