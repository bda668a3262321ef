import { defineDriver } from '../../historian/driver.ts'
import { clickhouseConfigSchema } from './config.ts'

/** Points in tables of ClickHouse that Tidemark makes: on one server, or spread over the shards of a cluster. */
export const clickhouse = defineDriver({
  type: 'clickhouse',
  configSchema: clickhouseConfigSchema,
  open: async (config, environment) => {
    const { ClickhouseHistorian } = await import('./driver.ts')
    return new ClickhouseHistorian(config, environment)
  },
})
