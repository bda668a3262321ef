import { defineDriver } from '../../historian/driver.ts'
import { tidemarkConfigSchema } from './config.ts'

/** A historian of another instance of this service, over the same interface that every client speaks. */
export const tidemark = defineDriver({
  type: 'tidemark',
  configSchema: tidemarkConfigSchema,
  open: async (config, environment) => {
    const { TidemarkHistorian } = await import('./driver.ts')
    return new TidemarkHistorian(config, environment)
  },
})
