import { influxdb } from '../../../src/drivers/influxdb/definition.ts'
import { InfluxHistorian } from '../../../src/drivers/influxdb/driver.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import type { InfluxServer } from '../../servers/influxdb.ts'

export const log = { info() {}, warn() {}, error() {} }

/** A historian with its meter, opened as the program does. */
export interface Opened {
  readonly historian: InfluxHistorian
  readonly meter: QueryMeter
}

/**
 * Opens a historian on a database with settings as a configuration file has them; writable unless they say otherwise.
 */
export async function openInflux(
  server: Pick<InfluxServer, 'url'>,
  database: string,
  settings: Readonly<Record<string, unknown>> = {},
  name = 'plant',
): Promise<Opened> {
  const meter = new QueryMeter()
  const config = influxdb.configSchema.parse({ url: server.url, database, writable: true, ...settings })
  const historian: Historian = await influxdb.open(config, { name, directory: '', log, meter })
  if (!(historian instanceof InfluxHistorian)) throw new Error('not an InfluxDB historian')
  return { historian, meter }
}

export const context = { signal: new AbortController().signal }
