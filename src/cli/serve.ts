import type { Command } from 'commander'
import type { LoadedSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import { never } from '../errors/tidemark-error.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { CommandError, exitCodeOf, sentenceOf } from './exit.ts'
import { option, variableOf } from './options.ts'
import { say, type Terminal } from './terminal.ts'
import { type FirstKeys, type Service, StartInterrupted } from './tools.ts'

interface Options extends SettingsOptions {
  readonly host?: string
  readonly port?: string
  readonly workers?: string
  readonly basePath?: string
  readonly demo?: boolean
  readonly logLevel?: string
  readonly firstKeysFile?: string
}

export function addServeCommand(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('serve'))
    .summary('run the service')
    .description(
      'Runs the HTTP service until it is stopped (Ctrl-C or SIGTERM), which finishes what was accepted; a later ' +
        'second time ends it at once. What a person should know is printed on standard output, the log as JSON lines on ' +
        'standard error.',
    )
    .addOption(option('--host <host>', 'address to listen at (default: 127.0.0.1)'))
    .addOption(option('--port <port>', 'port to listen at, 0 for a free one (default: 8080)'))
    .addOption(
      option('--workers <n>', 'processes that answer at the port, to use more processors (default: 1)'),
    )
    .addOption(option('--base-path <path>', 'path before all others, such as /tidemark'))
    .addOption(option('--demo', 'add a historian demo with a small plant, live'))
    .addOption(
      option('--log-level <level>', 'fatal, error, warn, info, debug, trace or silent (default: info)'),
    )
    .addOption(
      option(
        '--first-keys-file <file>',
        'where a first start that no terminal sees writes its keys (default: first-keys.txt in the data directory)',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  tidemark serve
  tidemark serve --demo
  tidemark serve --config /etc/tidemark.yaml --host 0.0.0.0 2>> tidemark.log`,
    )
    .action((options: Options) => runServe(options, context))
}

/** Options over the settings, by their path. */
const FLAGS = [
  { name: 'host', path: 'server.host', flag: '--host' },
  { name: 'port', path: 'server.port', flag: '--port' },
  { name: 'workers', path: 'server.workers', flag: '--workers' },
  { name: 'basePath', path: 'server.basePath', flag: '--base-path' },
  { name: 'logLevel', path: 'log.level', flag: '--log-level' },
] as const

async function runServe(options: Options, context: CommandContext): Promise<void> {
  const flags = FLAGS.flatMap(({ name, path, flag }) => {
    const value = options[name]
    // src/config reads the variables itself, and names them in what it says.
    return value === undefined || value === context.env[variableOf(flag)] ? [] : [{ path, value, flag }]
  })
  const demo = options.demo === true ? [{ path: 'demo', value: true, flag: '--demo' }] : []
  const loaded = await loadCommandSettings(options, context, [...flags, ...demo], true)
  const { terminal, tools, signal } = context
  // A service goes on, and finishes what it accepted, also when nobody reads any more what it prints.
  terminal.ignoreErrors()
  if (loaded.settings.demo) say(terminal, 'Bringing the demo plant up to the present ...')
  const { firstKeyFile, SHOWN } = await import('./first-keys.ts')
  const dataDir = loaded.settings.store === null ? loaded.settings.dataDir : null
  const place =
    terminal.out.isTTY === true ? SHOWN : firstKeyFile(options.firstKeysFile, dataDir, context.directory)
  const service = await startUnlessTold(() => tools.startService(loaded.settings, place), signal)
  if (service === null) {
    say(terminal, 'Stopped.')
    return
  }
  try {
    sayStarted(loaded, service, tools.version, terminal)
    await stopAsked(signal)
    say(terminal, 'Finishing what was accepted; stop it again to end at once.')
  } finally {
    await service.stop()
  }
  say(terminal, 'Stopped.')
}

/**
 * `null` when it did not start because a signal ended its workers meanwhile. Any other error of the start is reported,
 * with a signal or without.
 */
async function startUnlessTold(start: () => Promise<Service>, signal: AbortSignal): Promise<Service | null> {
  try {
    return await start()
  } catch (error) {
    if (!signal.aborted) throw error
    if (error instanceof StartInterrupted) return null
    throw new CommandError(sentenceOf(error), exitCodeOf(error), error, true)
  }
}

function stopAsked(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Says all of it at once: who waits for a start and reads the keys gets them with the address. */
function sayStarted(
  { settings, file }: LoadedSettings,
  service: Service,
  version: string,
  terminal: Terminal,
): void {
  const lines = [
    `Tidemark ${version} answers at ${service.url}`,
    `  settings    ${file ?? 'all defaults (no configuration file)'}`,
  ]
  if (settings.store !== null) lines.push(`  store       ${settings.store.type} (keys and aliases)`)
  if (service.usesDataDir) lines.push(`  data        ${settings.dataDir}`)
  if (settings.server.workers > 1) lines.push(`  workers     ${settings.server.workers}`)
  lines.push(`  historians  ${service.historians.map(describe).join(', ')}`)
  lines.push(`  explorer    ${service.url}`, `  reference   ${service.url}/docs`)
  lines.push(`  keys        tidemark keys create --name NAME --scope read${keyOptions(file, settings)}`)
  if (service.firstKeys !== null) lines.push('', ...firstKeyLines(service.firstKeys))
  if (service.demo !== null) lines.push('', ...demoLines(service.demo, service.url, settings))
  say(terminal, lines.join('\n'))
}

/** Options that the commands for keys need to work on the data of this service. */
function keyOptions(file: string | null, { store, dataDir }: Settings): string {
  const config = file === null ? '' : ` --config ${file}`
  return store === null ? `${config} --data-dir ${dataDir}` : config
}

function firstKeyLines(keys: FirstKeys): readonly string[] {
  switch (keys.kind) {
    case 'shown':
      return [
        'This is the first start, and two API keys were made. They are shown this once: keep them now.',
        `  write  ${keys.write}`,
        `  read   ${keys.read}`,
        'More are made, listed, rotated and revoked with tidemark keys.',
      ]
    case 'file':
      return [
        'This is the first start, and two API keys were made. They are in a file that only its user may read:',
        `  ${keys.path}`,
        'Take them from there and remove it. More are made, listed, rotated and revoked with tidemark keys.',
      ]
    case 'not-made':
      return [`No first keys were made (${keys.reason}). Make one with the command above.`]
    default:
      return never(keys)
  }
}

function describe({ name, type, writable }: Service['historians'][number]): string {
  return `${name} (${type}, ${writable ? 'writable' : 'read-only'})`
}

/** What the link to the demo shows: a tank, what it fills, and the pump between them. */
const DEMO_VIEW = 'from=*-8h&to=*&pen=c0;demo/T101.LEVEL&pen=c1;demo/R201.TEMP&pen=c2;demo/P101.CURRENT'

function demoLines(demo: NonNullable<Service['demo']>, url: string, settings: Settings): readonly string[] {
  const loaded =
    demo.loadedPoints === 0
      ? 'was up to the present'
      : `took ${demo.loadedPoints.toLocaleString('en')} points in ${demo.loadSeconds.toFixed(1)} s`
  // A certificate that only this machine made is not known to curl.
  const curl = settings.server.tls === null ? 'curl -s' : 'curl -sk'
  const key = `-H 'X-Api-Key: ${demo.key}'`
  const post = (body: string) =>
    `  ${curl} ${url}/historian/multi ${key} -H 'Content-Type: application/json' -d '${body}'`
  return [
    `The demo plant ${loaded} and goes on, a point of each tag every 10 s.`,
    'Open this link to look at it; its key reads the demo alone, and ends with this process:',
    `  ${url}/#key=${demo.key}&${DEMO_VIEW}`,
    'Or try these:',
    `  ${curl} '${url}/historian/search?historian=demo' ${key}`,
    post('{"requests":{"level":{"type":"CURRENT_POINT","tag":"demo/T101.LEVEL"}}}'),
    post(
      '{"requests":{"pumped today, m3":{"type":"CURRENT_POINT","tag":"calc/TOTALISE(demo/T101.OUTFLOW, DAY, BEGIN_DAY, 1h)"},' +
        '"by the hour":{"type":"MULTIPLE_AGGREGATED_POINTS","tag":"demo/R201.TEMP",' +
        '"details":{"from":"today","to":"now","interval":"1h","aggregates":["MIN","AVG","MAX"]}}}}',
    ),
  ]
}
