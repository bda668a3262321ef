import { defineDriver } from '../../historian/driver.ts'
import { influxConfigSchema } from './config.ts'

/** A database of InfluxDB 1.x, or of anything that answers its HTTP interface. Opening it connects to nothing yet. */
export const influxdb = defineDriver({
  type: 'influxdb',
  configSchema: influxConfigSchema,
  open: async (config, environment) => {
    const { InfluxHistorian } = await import('./driver.ts')
    return new InfluxHistorian(config, environment)
  },
})
