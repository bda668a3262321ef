import type { Historian } from '../../../src/historian/contract.ts'
import { goldenSuite } from '../../golden/suite.ts'
import type { StartableEngine } from '../../servers/clickhouse-engines.ts'
import { openHistorian } from './open.ts'

/** All golden files on one of the engines; each has a file of its own, so that they run side by side. */
export function goldenSuiteOf({ name, skip, start }: StartableEngine): void {
  goldenSuite({
    name,
    skip,
    ways: 'cursor',
    // What its statements work out is the contract's to test, against the same references.
    oneOf: 6,
    start: async () => {
      const server = await start()
      const open = new Map<string, Historian>()
      let databases = 0
      return {
        // Each has a database of its own, and so tables that nothing else uses.
        async empty(historianName) {
          await open.get(historianName)?.close()
          const settings = { urls: [server.url], database: `golden_${++databases}` }
          const historian = await openHistorian(settings, { name: historianName })
          open.set(historianName, historian)
          return historian
        },
        async stop() {
          for (const historian of open.values()) await historian.close()
          await server.kill()
        },
      }
    },
  })
}
