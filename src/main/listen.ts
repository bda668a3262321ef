import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { presentInstant } from '../cli/clock.ts'
import type { Settings } from '../config/settings.ts'
import type { Historian } from '../historian/contract.ts'
import type { Services } from '../http/services.ts'
import { historiansElsewhere, needsDataDirectory } from './stores.ts'
import { version } from './version.ts'

/** Bytes of log that wait where it cannot be written; further lines are left out. */
const MOST_LOG_KEPT = 1_048_576

/**
 * The log of a process of the service. From now on rejections that nobody handles are written to it and do not end the
 * process.
 */
export async function serviceLog(
  settings: Settings,
): Promise<{ readonly log: Logger; readonly unhandledRejections: () => number }> {
  const { destination } = (await import('pino')).default
  const { createLog } = await import('../http/log.ts')
  const { surviveRejections } = await import('../http/unhandled-rejections.ts')
  const stderr = destination({ fd: 2, sync: true, maxLength: MOST_LOG_KEPT })
  // A file on a full disk, say, must not end the service. The lines wait for room, as many as may.
  stderr.on('error', () => {})
  const log = createLog(settings.log.level, stderr)
  return { log, unhandledRejections: surviveRejections(log) }
}

interface ListenParts
  extends Pick<
    Services,
    'settings' | 'keys' | 'aliases' | 'log' | 'meters' | 'otherMetrics' | 'unhandledRejections' | 'checkStore'
  > {
  readonly historians: readonly Historian[]
}

/** Answers HTTP from now on; closing it closes the historians, too. */
export async function listen({ historians, ...parts }: ListenParts) {
  const { HistorianRegistry } = await import('../historian/registry.ts')
  const { createServer } = await import('../http/server.ts')
  const app = createServer({
    ...parts,
    ...(await dataMeasures(parts.settings)),
    ...(await tracingOf(parts.settings, parts.log)),
    historians: new HistorianRegistry(historians),
    version,
    clock: presentInstant,
  })
  await listenAt(app, parts.settings.server)
  return app
}

/** How many ports of the system's choice are tried. */
const CHOICES = 5

/**
 * Listens, with port 0 more than once: the system may choose a port at which another process listens before this one
 * does. Both may bind it, as Node sets SO_REUSEADDR, and one of them may listen.
 */
export async function listenAt(
  app: { listen(at: { host: string; port: number }): Promise<unknown> },
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  for (let choice = 1; ; choice++) {
    try {
      await app.listen({ host, port })
      return
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isTaken || port !== 0 || choice === CHOICES) throw error
    }
  }
}

/** The spans of this process, where the configuration asks for them. */
async function tracingOf({ tracing }: Settings, log: Logger): Promise<Pick<Services, 'tracing'>> {
  if (tracing === null) return {}
  const { startTracing } = await import('../tracing/start.ts')
  return { tracing: startTracing(tracing, version, log) }
}

/** Measures of the data on this machine, where there are any. */
async function dataMeasures(settings: Settings): Promise<Pick<Services, 'measureData'>> {
  if (!(await needsDataDirectory(settings))) return {}
  const { measureData } = await import('../storage/directory/data-measures.ts')
  const elsewhere = (await historiansElsewhere(settings)).map(({ folder }) => folder)
  return { measureData: measureData(settings.dataDir, elsewhere) }
}

/** Where a person finds the service: an address that means every interface is no place to go to. */
export function urlOf(listening: AddressInfo, { server }: Settings): string {
  const anywhere = listening.address === '0.0.0.0' || listening.address === '::'
  const address = anywhere ? 'localhost' : listening.address
  const host = address.includes(':') ? `[${address}]` : address
  return `${server.tls === null ? 'http' : 'https'}://${host}:${listening.port}${server.basePath}`
}

export async function listenError(error: unknown, { server }: Settings): Promise<unknown> {
  const { CommandError } = await import('../cli/exit.ts')
  const { code, syscall } = error as NodeJS.ErrnoException
  // Of workers, the first process listens, and calls it so.
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return error
  const where = `${server.host}, port ${server.port}`
  const taken =
    server.port === 0
      ? `The system found no free port at ${server.host}: try again, or choose one with --port`
      : `Something listens at ${where} already: stop it, or choose another port with --port (0 for a free one)`
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: taken,
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

/** By how much of what is alive the JavaScript heap may grow before the garbage collector goes through all of it. */
const HEAP_GROWTH_PERCENT = 50

/**
 * Left to itself V8 lets a heap of 40 MB grow to 150 MB where little dies old, as points in columns lie outside of it,
 * and keeps some 18 MB of pages for later that it does not need soon. Not before the service has started: code of Node
 * that is loaded afterwards is compiled anew, since its cache was made without the flags.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  setFlagsFromString('--no-memory-pool')
}
