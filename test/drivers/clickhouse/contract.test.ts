import { describe, test } from 'node:test'
import { historianContract } from '../../contract/historian-contract.ts'
import { type ClickhouseServer, clickhouseServer, startClickhouse } from '../../servers/clickhouse.ts'
import { openHistorian } from './open.ts'

/** One server for all suites, each with a database of its own; it is ended with the file. */
let server: Promise<ClickhouseServer> | null = null
let databases = 0

if (clickhouseServer.skip === false) {
  historianContract({
    name: 'clickhouse',
    start: async () => {
      server ??= startClickhouse()
      const { url } = await server
      const database = `suite_${++databases}`
      const open = () => openHistorian({ urls: [url], database })
      let historian = await open()
      return {
        historian,
        async reopen() {
          await historian.close()
          historian = await open()
          return historian
        },
        stop: () => historian.close(),
      }
    },
    exceptions: [],
  })
} else {
  describe('clickhouse', () => {
    test('keeps the contract', { skip: clickhouseServer.skip }, () => {})
  })
}
