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

/** What historians are opened with beside their configuration. */
export interface HistorianSurroundings {
  readonly data: Pick<Stores, 'historianDirectory' | 'known'>
  readonly log: DriverLog
  readonly meters: Map<string, QueryMeter>
  /** Who owns the local ones; left out when this process does. */
  readonly primary?: PrimaryProcess
  /** Seconds that a call takes at most; left out where that is not known. */
  readonly deadlineSeconds?: number
}

export async function openHistorians(
  settings: Settings['historians'],
  { data, log, meters, primary, deadlineSeconds }: HistorianSurroundings,
): Promise<Historian[]> {
  const drivers = await loadDrivers()
  const opened: Historian[] = []
  try {
    for (const [name, { type, options }] of settings) {
      const meter = new QueryMeter()
      meters.set(name, meter)
      // The type is known: src/config has checked it.
      const driver = drivers.get(type)!
      const owner = primary !== undefined && driver.isLocal ? { owner: primary.ownerOf(name) } : {}
      // The demo's plant is made anew wherever it is missing.
      const known = driver.isLocal && primary === undefined && name !== DEMO_HISTORIAN ? data.known : null
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
        ...(deadlineSeconds !== undefined && { deadlineSeconds }),
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
