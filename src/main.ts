import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import type { AliasStore } from './aliases/store.ts'
import { presentInstant } from './cli/clock.ts'
import { runCommandLine } from './cli/program.ts'
import type { CheckReport, InPlace, Service, Tools } from './cli/tools.ts'
import type { PrimaryProcess, WorkerService } from './cluster/worker.ts'
import { DEMO_HISTORIAN } from './config/historian-names.ts'
import type { KeyStore } from './config/keys.ts'
import type { HistorianTypes, StoreTypes } from './config/load.ts'
import type { Settings } from './config/settings.ts'
import type { Historian } from './historian/contract.ts'
import type { DriverDefinition, DriverLog } from './historian/driver.ts'
import type { AliasesFor } from './historian/registry.ts'
import { QueryMeter } from './historian/remote/meter.ts'
import type { Services } from './http/services.ts'
import type { SharedStoreDefinition } from './storage/shared-store.ts'

/*
 * Puts the program together, and alone names drivers, storage and the HTTP service. All of them are imported when a
 * command asks for them: `--version` and `--help` need none.
 */

/** The kinds of historians there are; a new driver is one line here. */
async function loadDrivers(): Promise<ReadonlyMap<string, DriverDefinition>> {
  const drivers = [
    (await import('./drivers/embedded/driver.ts')).embedded,
    (await import('./drivers/clickhouse/driver.ts')).clickhouse,
    (await import('./drivers/postgres/driver.ts')).postgres,
    (await import('./drivers/influxdb/driver.ts')).influxdb,
    (await import('./drivers/tidemark/driver.ts')).tidemark,
  ]
  return new Map(drivers.map((driver) => [driver.type, driver as unknown as DriverDefinition]))
}

/** The kinds of stores that several processes share for keys and aliases; a new one is one line here. */
async function loadStores(): Promise<ReadonlyMap<string, SharedStoreDefinition>> {
  const stores = [(await import('./drivers/postgres/shared-store/open.ts')).postgresStore]
  return new Map(stores.map((store) => [store.type, store as unknown as SharedStoreDefinition]))
}

/** Kind of the historian that --demo adds. */
const DEMO_TYPE = 'embedded'

const version = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

const tools: Tools = {
  version,
  historianTypes: async () => (await loadDrivers()) as HistorianTypes,
  storeTypes: async () => (await loadStores()) as StoreTypes,
  openInPlace,
  openKeys: (settings) =>
    openStores(settings, { owner: false, needsData: settings.store === null }, stderrLog),
  startService,
  checkData: async (settings, signal) => {
    const { checkDataDirectory } = await import('./storage/maintenance.ts')
    const { historians, aliases, damagedAliases } = await checkDataDirectory(
      settings.dataDir,
      signal,
      await historiansElsewhere(settings),
    )
    const checked = historians.map(({ historian, check, failure }) => ({
      name: historian,
      tags: check?.tags ?? 0,
      points: check?.points ?? 0,
      problemCount: check?.problemCount ?? 1,
      problems: failure === null ? (check?.problems ?? []) : [failure],
    }))
    if (aliases > 0) checked.push(checkedAliases(aliases, damagedAliases))
    return { historians: checked }
  },
  backupData: async (settings, target, signal) => {
    const { backupDataDirectory } = await import('./storage/backup.ts')
    return backupDataDirectory(settings.dataDir, target, signal, await historiansElsewhere(settings))
  },
}

/** Runs a command line and sets the exit code of the process. */
export async function main(args: readonly string[]): Promise<void> {
  if ((await import('node:cluster')).default.isWorker) {
    const { runWorker } = await import('./cluster/worker.ts')
    await runWorker(startWorker)
    return
  }
  process.exitCode = await runCommandLine(args, tools, process)
}

async function openInPlace(settings: Settings): Promise<InPlace> {
  const { existsSync } = await import('node:fs')
  const { HistorianRegistry } = await import('./historian/registry.ts')
  const { historianDirectory } = await import('./storage/data-directory.ts')
  const hasDemo = existsSync(historianDirectory(settings.dataDir, DEMO_HISTORIAN))
  const needsData = hasDemo || (await needsDataDirectory(settings))
  const data = await openStores(settings, { owner: true, needsData }, stderrLog)
  try {
    const wanted = new Map(settings.historians)
    // A plant that was served here is data like any other, but only worth opening where it is.
    if (!wanted.has(DEMO_HISTORIAN) && hasDemo) wanted.set(DEMO_HISTORIAN, await demoSettings())
    const historians = await openHistorians(
      wanted,
      (name) => data.historianDirectory(name),
      stderrLog,
      new Map(),
    )
    return {
      historians: new HistorianRegistry(historians, await aliasesFor(data.aliases, settings)),
      close: async () => {
        await closeAll(historians)
        await data.close()
      },
    }
  } catch (error) {
    await data.close()
    throw error
  }
}

/** What commands in place see of the aliases: all of them. */
async function aliasesFor(store: AliasStore, settings: Settings): Promise<AliasesFor> {
  const { aliasViews } = await import('./aliases/view.ts')
  const { SIGNATURES } = await import('./calc/functions/index.ts')
  const { parseTimeZone, UTC } = await import('./time/zone.ts')
  return aliasViews(store, {
    signatures: SIGNATURES,
    defaultHistorian: settings.defaultHistorian,
    clock: presentInstant,
    zone: parseTimeZone(settings.timeZone) ?? UTC,
  })
}

async function startService(settings: Settings): Promise<Service> {
  if (settings.server.workers > 1) return startManyProcesses(settings)
  const { startDemo } = await import('./demo/start.ts')

  const log = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: true, needsData }, log)
  const undo: (() => Promise<void>)[] = [() => data.close()]
  try {
    const wanted = new Map(settings.historians)
    if (settings.demo) wanted.set(DEMO_HISTORIAN, await demoSettings())
    const meters = new Map<string, QueryMeter>()
    const historians = await openHistorians(wanted, (name) => data.historianDirectory(name), log, meters)
    undo.push(() => closeAll(historians))

    const plant = historians.find(({ name }) => settings.demo && name === DEMO_HISTORIAN)
    const demo = plant === undefined ? null : await startDemo(plant, data.keys, presentInstant, log)
    if (demo !== null) undo.push(() => demo.stop())

    const keys = demo?.keys ?? data.keys
    const { aliases, checkStore } = data
    const app = await listen({ settings, historians, keys, aliases, log, meters, ...checkStore })
    // Only now: the first keys are shown once, and a start that fails after making them would lose them.
    const firstKeys = await makeFirstKeys(data.keys, log).catch(async (error: unknown) => {
      await app.close()
      throw error
    })
    keepHeapSmall()
    return {
      url: urlOf(app.server.address() as AddressInfo, settings),
      historians: historians.map(describe),
      usesDataDir: needsData,
      firstKeys,
      demo,
      stop: async () => {
        await demo?.stop()
        await app.close()
        await data.close()
      },
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    throw await listenError(error, settings)
  }
}

/**
 * Several processes answer at one port. This one owns the data directory and makes all changes of the historians in it; it
 * answers no HTTP itself.
 */
async function startManyProcesses(settings: Settings): Promise<Service> {
  if (settings.demo) {
    const { CommandError } = await import('./cli/exit.ts')
    throw new CommandError('The demo plant is served by one process: leave --workers or --demo out.', 2)
  }
  const { startWorkers } = await import('./cluster/primary.ts')
  const { INSTANCE_ID, INSTANCE_VARIABLE } = await import('./historian/remote/hops.ts')
  // The workers are one instance to others, whichever of them is asked.
  process.env[INSTANCE_VARIABLE] = INSTANCE_ID

  const log = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: true, needsData }, log)
  const undo: (() => Promise<void>)[] = [() => data.close()]
  try {
    const drivers = await loadDrivers()
    const local = new Map([...settings.historians].filter(([, { type }]) => drivers.get(type)!.isLocal))
    const historians = await openHistorians(local, (name) => data.historianDirectory(name), log, new Map())
    undo.push(() => closeAll(historians))
    const owned = new Map(historians.map((historian) => [historian.name, historian]))
    const workers = await startWorkers(settings.server.workers, settings, owned, log)
    undo.push(() => workers.stop())
    const firstKeys = await makeFirstKeys(data.keys, log)
    keepHeapSmall()
    return {
      url: urlOf(workers.address, settings),
      historians: workers.historians,
      usesDataDir: needsData,
      firstKeys,
      demo: null,
      stop: async () => {
        await workers.stop()
        await closeAll(historians)
        await data.close()
      },
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {})
    throw await listenError(error, settings)
  }
}

/** One of the processes that `startManyProcesses` starts. */
async function startWorker(settings: Settings, primary: PrimaryProcess): Promise<WorkerService> {
  const { queriesOf } = await import('./http/routes/metrics/queries.ts')
  const log = await serviceLog(settings)
  const needsData = await needsDataDirectory(settings)
  const data = await openStores(settings, { owner: false, needsData }, log)
  const meters = new Map<string, QueryMeter>()
  const directoryOf = (name: string) => data.historianDirectory(name)
  const historians = await openHistorians(settings.historians, directoryOf, log, meters, primary)
  const app = await listen({
    settings,
    historians,
    keys: data.keys,
    aliases: data.aliases,
    log,
    meters,
    ...data.checkStore,
    otherMetrics: () => primary.otherMetrics(),
  })
  keepHeapSmall()
  return {
    address: app.server.address() as AddressInfo,
    historians: historians.map(describe),
    metrics: async () => [...(await app.metrics.list()), queriesOf(meters)],
    stop: async () => {
      await app.close()
      await data.close()
    },
  }
}

/** Keys, aliases and folders of historians, wherever they are kept. */
interface Stores {
  readonly keys: KeyStore
  readonly aliases: AliasStore
  /** For the service, where there is a store that may be down. */
  readonly checkStore?: Pick<Services, 'checkStore'>
  /** The folder of an embedded historian; it need not exist. */
  historianDirectory(name: string): string
  close(): Promise<void>
}

/**
 * Opens the shared store when one is configured, and the data directory when anything is in it.
 * @param needsData  whether the data directory is wanted although keys and aliases are elsewhere
 */
async function openStores(
  { dataDir, store }: Settings,
  { owner, needsData }: { readonly owner: boolean; readonly needsData: boolean },
  log: DriverLog,
): Promise<Stores> {
  const { historianDirectory, openDataDirectory } = await import('./storage/data-directory.ts')
  const data = needsData ? await openDataDirectory(dataDir, { owner, create: true }) : null
  if (store === null) return data!
  // The type is known: src/config has checked it.
  const shared = (await loadStores()).get(store.type)!.open(store.options, log)
  return {
    keys: shared.keys,
    aliases: shared.aliases,
    checkStore: { checkStore: () => shared.check() },
    historianDirectory: (name) => historianDirectory(dataDir, name),
    close: async () => {
      await shared.close()
      await data?.close()
    },
  }
}

/** Without it a process has no state of its own: any number of them may stand in front of one store. */
async function needsDataDirectory({ store, demo, historians }: Settings): Promise<boolean> {
  if (store === null || demo) return true
  const drivers = await loadDrivers()
  return [...historians.values()].some(({ type }) => drivers.get(type)!.isLocal === true)
}

/** By how much of what is alive the JavaScript heap may grow before the garbage collector goes through all of it. */
const HEAP_GROWTH_PERCENT = 50

/**
 * Left to itself V8 lets a heap of 40 MB grow to 150 MB where little dies old, as points in columns lie outside of it, and keeps
 * some 18 MB of pages for later that it does not need soon. Not before the service has started: code of Node that is loaded
 * afterwards is compiled anew, since its cache was made without the flags.
 */
function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  setFlagsFromString('--no-memory-pool')
}

/** Bytes of log that wait where it cannot be written; further lines are left out. */
const MOST_LOG_KEPT = 1_048_576

async function serviceLog(settings: Settings): Promise<Logger> {
  const { destination } = (await import('pino')).default
  const { createLog } = await import('./http/log.ts')
  const stderr = destination({ fd: 2, sync: true, maxLength: MOST_LOG_KEPT })
  // A file on a full disk, say, must not end the service. The lines wait for room, as many as may.
  stderr.on('error', () => {})
  return createLog(settings.log.level, stderr)
}

interface ListenParts
  extends Pick<Services, 'settings' | 'keys' | 'aliases' | 'log' | 'meters' | 'otherMetrics' | 'checkStore'> {
  readonly historians: readonly Historian[]
}

/** Answers HTTP from now on; closing it closes the historians, too. */
async function listen({ historians, ...parts }: ListenParts) {
  const { HistorianRegistry } = await import('./historian/registry.ts')
  const { createServer } = await import('./http/server.ts')
  const app = createServer({
    ...parts,
    historians: new HistorianRegistry(historians),
    version,
    clock: presentInstant,
  })
  const { host, port } = parts.settings.server
  await app.listen({ host, port })
  return app
}

function describe({ name, type, capabilities }: Historian) {
  return { name, type, writable: capabilities.write }
}

async function openHistorians(
  settings: Settings['historians'],
  directoryOf: (name: string) => string,
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
      opened.push(await driver.open(options, { name, directory: directoryOf(name), log, meter, ...owner }))
    }
  } catch (error) {
    await closeAll(opened)
    throw error
  }
  return opened
}

async function closeAll(historians: readonly Historian[]): Promise<void> {
  await Promise.allSettled(historians.map((historian) => historian.close()))
}

/** Configured historians whose data are in this machine's folders outside of the data directory. */
async function historiansElsewhere({ historians }: Settings) {
  const drivers = await loadDrivers()
  return [...historians].flatMap(([name, { type, options }]) => {
    const folder = drivers.get(type)!.ownFolder?.(options) ?? null
    return folder === null ? [] : [{ name, folder }]
  })
}

function checkedAliases(aliases: number, damaged: number): CheckReport['historians'][number] {
  const problems =
    damaged === 0 ? [] : ['so many aliases cannot be read: make them again, or restore a backup']
  return { name: 'aliases', tags: aliases, points: 0, problemCount: damaged, problems }
}

async function demoSettings() {
  const options = (await loadDrivers()).get(DEMO_TYPE)!.configSchema.parse({}) as Record<string, unknown>
  return { type: DEMO_TYPE, options }
}

/**
 * One write key and one read key where there never was a key; null otherwise. A store that cannot be reached now does not
 * keep the service from starting: it refuses calls until the store is there.
 */
async function makeFirstKeys(store: KeyStore, log: DriverLog) {
  try {
    return await makeKeysOfFirstStart(store)
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: string }
    if (code !== 'KEYS_UNAVAILABLE') throw error
    log.error({ code }, `${message}; calls are refused until it is there, and this start made no keys`)
    return null
  }
}

async function makeKeysOfFirstStart(store: KeyStore) {
  if (await store.firstStartKeysMade()) return null
  const { makeKey, makeKeyRecord } = await import('./config/keys.ts')

  const make = (scope: 'read' | 'write') => {
    const record = makeKeyRecord(
      { name: `first-${scope}`, scope, historians: null, expiresAt: null },
      presentInstant(),
    )
    return { ...makeKey(), record }
  }
  const write = make('write')
  const read = make('read')
  return (await store.addFirstStartKeys([write, read])) ? { write: write.secret, read: read.secret } : null
}

/** Where a person finds the service: an address that means every interface is no place to go to. */
function urlOf(listening: AddressInfo, { server }: Settings): string {
  const anywhere = listening.address === '0.0.0.0' || listening.address === '::'
  const address = anywhere ? 'localhost' : listening.address
  const host = address.includes(':') ? `[${address}]` : address
  return `${server.tls === null ? 'http' : 'https'}://${host}:${listening.port}${server.basePath}`
}

async function listenError(error: unknown, { server }: Settings): Promise<unknown> {
  const { CommandError } = await import('./cli/exit.ts')
  const { code, syscall } = error as NodeJS.ErrnoException
  // Of workers, the first process listens, and calls it so.
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return error
  const where = `${server.host}, port ${server.port}`
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Something listens at ${where} already: stop it, or choose another port with --port (0 for a free one)`,
    EACCES: `Listening at ${where} is not allowed: ports below 1024 need more rights; choose another with --port`,
    EADDRNOTAVAIL: `${server.host} is no address of this machine: choose another with --host`,
    ENOTFOUND: `The host name ${server.host} is not known: choose another with --host`,
  }
  return new CommandError(
    reasons[code ?? ''] ?? `Listening at ${where} failed: ${(error as Error).message}`,
    1,
    error,
  )
}

/** Commands that work in place say what a driver has to say, one line each. */
const stderrLog: DriverLog = {
  info: () => {},
  warn: (_, message) => process.stderr.write(`${message}\n`),
  error: (_, message) => process.stderr.write(`${message}\n`),
}
