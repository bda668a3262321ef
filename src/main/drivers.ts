import type { DriverDefinition } from '../historian/driver.ts'
import type { SharedStoreDefinition } from '../storage/shared-store.ts'

/*
 * The one place that names drivers. They are imported when a command asks for them; those of connected historians
 * import what they are made of when one is opened, which is a third of what a short command would load.
 */

/** The kinds of historians there are; a new driver is one line here. */
export async function loadDrivers(): Promise<ReadonlyMap<string, DriverDefinition>> {
  const drivers = [
    (await import('../drivers/embedded/driver.ts')).embedded,
    (await import('../drivers/clickhouse/definition.ts')).clickhouse,
    (await import('../drivers/postgres/definition.ts')).postgres,
    (await import('../drivers/influxdb/definition.ts')).influxdb,
    (await import('../drivers/tidemark/definition.ts')).tidemark,
  ]
  return new Map(drivers.map((driver) => [driver.type, driver as unknown as DriverDefinition]))
}

/** The kinds of stores that several processes share for keys and aliases; a new one is one line here. */
export async function loadStores(): Promise<ReadonlyMap<string, SharedStoreDefinition>> {
  const stores = [(await import('../drivers/postgres/shared-store/definition.ts')).postgresStore]
  return new Map(stores.map((store) => [store.type, store as unknown as SharedStoreDefinition]))
}
