import type { PrimaryProcess } from '../cluster/worker.ts'
import { DEMO_HISTORIAN } from '../config/historian-names.ts'
import type { Settings } from '../config/settings.ts'
import type { Historian } from '../historian/contract.ts'
import type { DriverLog, HistorianEnd } from '../historian/driver.ts'
import { QueryMeter } from '../historian/remote/meter.ts'
import { loadDrivers } from './drivers.ts'
import type { Stores } from './stores.ts'

/** Kind of the historian that --demo adds. */
const DEMO_TYPE = 'embedded'

export async function demoSettings() {
  const options = (await loadDrivers()).get(DEMO_TYPE)!.configSchema.parse({}) as Record<string, unknown>
  return { type: DEMO_TYPE, options }
}

export async function openHistorians(
  settings: Settings['historians'],
  data: Pick<Stores, 'historianDirectory' | 'known'>,
  log: DriverLog,
  meters: Map<string, QueryMeter>,
  primary: PrimaryProcess | null = null,
): Promise<Historian[]> {
  const drivers = await loadDrivers()
  const opened: Historian[] = []
  try {
    for (const [name, { type, options }] of settings) {
      const meter = new QueryMeter()
      meters.set(name, meter)
      // The type is known: src/config has checked it.
      const driver = drivers.get(type)!
      const owner = primary !== null && driver.isLocal ? { owner: primary.ownerOf(name) } : {}
      // The demo's plant is made anew wherever it is missing.
      const known = driver.isLocal && primary === null && name !== DEMO_HISTORIAN ? data.known : null
      const before = (await known?.get(name)) ?? null
      const directory = data.historianDirectory(name)
      const notes =
        known === null
          ? {}
          : {
              ended: (end: HistorianEnd) => known.ended(name, end),
              reached: (end: HistorianEnd) => known.reached(name, end),
            }
      const historian = await driver.open(options, {
        name,
        directory,
        before,
        log,
        meter,
        ...owner,
        ...notes,
      })
      opened.push(historian)
      const { id = null, token = null } = historian
      const folder = driver.ownFolder?.(options) ?? null
      await known?.add({ name, folder, id, token, lastSequence: null })
    }
  } catch (error) {
    await closeAll(opened)
    throw error
  }
  return opened
}

export async function closeAll(historians: readonly Historian[]): Promise<void> {
  await Promise.allSettled(historians.map((historian) => historian.close()))
}

export function describe({ name, type, capabilities }: Historian) {
  return { name, type, writable: capabilities.write }
}
