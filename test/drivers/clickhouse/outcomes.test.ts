import { clickhouseServer, startClickhouse } from '../../servers/clickhouse.ts'
import { outcomePromises } from '../outcome-promises.ts'
import { openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }

outcomePromises(
  'ClickHouse',
  async () => {
    const server = await startClickhouse()
    return {
      port: Number(new URL(server.url).port),
      async open(port, timeoutSeconds) {
        const historian = await openHistorian({ urls: [`http://127.0.0.1:${port}`], timeoutSeconds })
        // Looks at the tables, which is no part of a write.
        try {
          await historian.checkHealth(context)
        } catch (error) {
          await historian.close()
          throw error
        }
        return historian
      },
      isSentAgain: true,
      // A delete takes several statements.
      strides: { write: 11, delete: 23, hold: 61 },
      stop: () => server.kill(),
    }
  },
  clickhouseServer.skip,
)
