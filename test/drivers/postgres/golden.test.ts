import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { goldenSuite } from '../../golden/suite.ts'
import { found, startPostgres, testEnvironment } from '../../servers/postgres.ts'

goldenSuite({
  name: 'postgres',
  skip: found.skip,
  ways: 'pages',
  oneOf: 2,
  start: async () => {
    const server = await startPostgres({ settings: 'fsync=off' })
    const open = new Map<string, Historian>()
    let schemas = 0
    return {
      // Each has a schema of its own, and so tables that nothing else uses.
      empty: async (name) => {
        await open.get(name)?.close()
        const config = { ...server.config(`golden_${schemas++}`), connections: 2 }
        const historian = await postgres.open(postgresConfigSchema.parse(config), testEnvironment(name))
        open.set(name, historian)
        return historian
      },
      stop: async () => {
        for (const historian of open.values()) await historian.close()
        await server.stop('immediate')
      },
    }
  },
})
