import { existsSync } from 'node:fs'
import type { HistorianProbe, ProbeDetail } from '../cli/tools.ts'
import type { HistorianSettings, Settings } from '../config/settings.ts'
import type { CallContext, Historian } from '../historian/contract.ts'
import type { DriverDefinition, DriverEnvironment, HistorianOwner } from '../historian/driver.ts'
import { QueryMeter } from '../historian/remote/meter.ts'
import { loadDrivers } from './drivers.ts'

/** A historian that does not answer a probe in this time is down. */
const PROBE_SECONDS = 5
/** Opening one on this machine reads what its log holds, which takes longer. */
const OPEN_SECONDS = 60
const TAGS_OF_PAGE = 10_000
/** Above this, tags are not counted to their end. */
const MOST_TAGS = 1_000_000

/** Nothing is changed here: what only an owner could tell is left out. */
const NO_OWNER: HistorianOwner = { change: async () => null }

/** Whether the configured historians can be read, and what those on this machine hold. Changes nothing. */
export async function probeHistorians(settings: Settings): Promise<readonly HistorianProbe[]> {
  const drivers = await loadDrivers()
  const { historianDirectory, openDataDirectory } = await import('../storage/directory/data-directory.ts')
  const { dataDir, historians } = settings
  // What is wrong with the directory itself, its historians say.
  const data = existsSync(dataDir)
    ? await openDataDirectory(dataDir, { owner: false, create: false }).catch(() => null)
    : null
  try {
    return await Promise.all(
      Array.from(historians, async ([name, one]) => {
        const directory = historianDirectory(dataDir, name)
        const before = (await data?.known.get(name)) ?? null
        return probe(drivers.get(one.type)!, name, one, { directory, before })
      }),
    )
  } finally {
    await data?.close()
  }
}

async function probe(
  driver: DriverDefinition,
  name: string,
  { type, options }: HistorianSettings,
  place: Pick<DriverEnvironment, 'directory' | 'before'>,
): Promise<HistorianProbe> {
  const isLocal = driver.isLocal === true
  const folder = driver.ownFolder?.(options) ?? place.directory
  const nothing = { reason: null, details: [] }
  if (isLocal && place.before === null && !existsSync(folder))
    return { name, type, state: 'not there yet', ...nothing }
  const seconds = isLocal ? OPEN_SECONDS : PROBE_SECONDS
  try {
    const quiet = { info: () => {}, warn: () => {}, error: () => {} }
    const reading = isLocal ? { ...place, owner: NO_OWNER } : { directory: '' }
    const historian = await driver.open(options, { name, log: quiet, meter: new QueryMeter(), ...reading })
    try {
      const context = { signal: AbortSignal.timeout(seconds * 1_000) }
      await historian.checkHealth(context)
      return {
        name,
        type,
        state: 'up',
        reason: null,
        details: isLocal ? await contents(historian, context) : [],
      }
    } finally {
      await historian.close()
    }
  } catch (error) {
    const isLate = (error as { readonly name?: unknown }).name === 'TimeoutError'
    const reason = isLate ? `no answer within ${seconds} seconds` : (error as Error).message
    return { name, type, state: 'down', reason, details: [] }
  }
}

/** What a historian on this machine holds. */
async function contents(historian: Historian, context: CallContext): Promise<readonly ProbeDetail[]> {
  // Looking for tags first brings a reader up to what its owner has written.
  const tags = await countTags(historian, context)
  const measures = await historian.measure?.(context)
  const timeOf = (us: number | null | undefined) => (us == null ? 'none' : new Date(us / 1_000).toISOString())
  return [
    { what: 'tags', found: tags },
    { what: 'points in the journal', found: measures?.journalPoints ?? null },
    { what: 'oldest point', found: timeOf(measures?.oldest) },
    { what: 'newest point', found: timeOf(measures?.newest) },
  ]
}

async function countTags(historian: Historian, context: CallContext): Promise<number | string> {
  let count = 0
  let after: string | null = null
  for (;;) {
    const page: Awaited<ReturnType<Historian['searchTags']>> = await historian.searchTags(
      { pattern: null, after, limit: TAGS_OF_PAGE },
      context,
    )
    count += page.tags.length
    const last = page.tags.at(-1)
    if (!page.more || last === undefined) return count
    if (count >= MOST_TAGS) return `more than ${MOST_TAGS}`
    after = last.name
  }
}
