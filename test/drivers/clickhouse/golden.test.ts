import type { Historian } from '../../../src/historian/contract.ts'
import { goldenSuite } from '../../golden/suite.ts'
import { clickhouseServer, startClickhouse } from '../../servers/clickhouse.ts'
import { openHistorian } from './open.ts'

goldenSuite({
  name: 'clickhouse',
  skip: clickhouseServer.skip,
  start: async () => {
    const server = await startClickhouse()
    const open = new Map<string, Historian>()
    let databases = 0
    return {
      // Each has a database of its own, and so tables that nothing else uses.
      async empty(name) {
        await open.get(name)?.close()
        const settings = { urls: [server.url], database: `golden_${++databases}` }
        const historian = await openHistorian(settings, { name })
        open.set(name, historian)
        return historian
      },
      async stop() {
        for (const historian of open.values()) await historian.close()
        await server.kill()
      },
    }
  },
})
