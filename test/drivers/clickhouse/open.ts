import { clickhouseConfigSchema } from '../../../src/drivers/clickhouse/config.ts'
import { clickhouse } from '../../../src/drivers/clickhouse/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import type { DriverLog, DriverMeter } from '../../../src/historian/driver.ts'
import { NO_METER } from '../../../src/historian/remote/meter.ts'

export const NO_LOG: DriverLog = { info() {}, warn() {}, error() {} }

/** Opens a historian, named `plant` unless said otherwise, as a configuration file would say it. */
export function openHistorian(
  settings: Readonly<Record<string, unknown>>,
  parts: { readonly name?: string; readonly meter?: DriverMeter; readonly log?: DriverLog } = {},
): Promise<Historian> {
  return clickhouse.open(clickhouseConfigSchema.parse(settings), {
    name: parts.name ?? 'plant',
    directory: '/nonexistent',
    log: parts.log ?? NO_LOG,
    meter: parts.meter ?? NO_METER,
  })
}
