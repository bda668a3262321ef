import { describe, test } from 'node:test'
import type { ClickhouseEngine } from '../../servers/clickhouse.ts'
import { ENGINES } from '../../servers/clickhouse-engines.ts'
import { openHistorian } from './open.ts'

// Each statement takes some milliseconds, and there are two engines.
process.env.CONTRACT_RUNS ??= '8'
process.env.CONTRACT_SINGLES ??= '40'
process.env.CONTRACT_GAPS ??= '99,3000'
const { historianContract } = await import('../../contract/historian-contract.ts')

for (const engine of ENGINES) {
  /** One server for all suites, each with a database of its own; it is ended with the file. */
  let server: Promise<ClickhouseEngine> | null = null
  let databases = 0

  if (engine.skip === false) {
    historianContract({
      name: engine.name,
      start: async () => {
        server ??= engine.start()
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
    describe(engine.name, () => {
      test('keeps the contract', { skip: engine.skip }, () => {})
    })
  }
}
