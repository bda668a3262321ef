import { test } from 'node:test'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import { historianContract } from '../../contract/historian-contract.ts'
import { found, startPostgres, testEnvironment } from '../../servers/postgres.ts'

if (found.skip) test('the contract on a real server', { skip: found.skip })
else {
  historianContract({
    name: 'postgres',
    start: async () => {
      const server = await startPostgres()
      const settings = postgresConfigSchema.parse(server.config('tidemark'))
      const open = () => postgres.open(settings, testEnvironment())
      let historian = await open()
      return {
        historian,
        async reopen() {
          await historian.close()
          historian = await open()
          return historian
        },
        async stop() {
          await historian.close()
          await server.stop('immediate')
        },
      }
    },
    exceptions: [],
  })
}
