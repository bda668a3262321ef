import type { Command } from 'commander'
import type { LoadedSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { option, variableOf } from './options.ts'
import { say, type Terminal } from './terminal.ts'
import type { Service } from './tools.ts'

interface Options extends SettingsOptions {
  readonly host?: string
  readonly port?: string
  readonly workers?: string
  readonly basePath?: string
  readonly demo?: boolean
  readonly logLevel?: string
}

export function addServeCommand(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('serve'))
    .summary('run the service')
    .description(
      'Runs the HTTP service until it is told to stop (Ctrl-C or SIGTERM), which finishes what was accepted; a second ' +
        'time ends it at once. What a person should know is printed on standard output, the log as JSON lines on ' +
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
  const loaded = await loadCommandSettings(options, context, [...flags, ...demo])
  const { terminal, tools, signal } = context
  if (loaded.settings.demo) say(terminal, 'Bringing the demo plant up to the present ...')
  const service = await tools.startService(loaded.settings)
  try {
    sayStarted(loaded, service, tools.version, terminal)
    await stopAsked(signal)
    say(terminal, 'Finishing what was accepted; stop it again to end at once.')
  } finally {
    await service.stop()
  }
  say(terminal, 'Stopped.')
}

function stopAsked(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function sayStarted(
  { settings, file }: LoadedSettings,
  service: Service,
  version: string,
  terminal: Terminal,
): void {
  say(terminal, `Tidemark ${version} answers at ${service.url}`)
  say(terminal, `  settings    ${file ?? 'all defaults (no configuration file)'}`)
  if (settings.store !== null) say(terminal, `  store       ${settings.store.type} (keys and aliases)`)
  if (service.usesDataDir) say(terminal, `  data        ${settings.dataDir}`)
  if (settings.server.workers > 1) say(terminal, `  workers     ${settings.server.workers}`)
  say(terminal, `  historians  ${service.historians.map(describe).join(', ')}`)
  say(terminal, `  reference   ${service.url}/docs`)
  if (service.firstKeys !== null) {
    say(terminal)
    say(
      terminal,
      'This is the first start, and two API keys were made. They are shown this once: keep them now.',
    )
    say(terminal, `  write  ${service.firstKeys.write}`)
    say(terminal, `  read   ${service.firstKeys.read}`)
    say(terminal, 'More are made, listed and revoked with tidemark keys.')
  }
  if (service.demo !== null) sayDemo(service.demo, service.url, settings, terminal)
}

function describe({ name, type, writable }: Service['historians'][number]): string {
  return `${name} (${type}, ${writable ? 'writable' : 'read-only'})`
}

function sayDemo(
  demo: NonNullable<Service['demo']>,
  url: string,
  settings: Settings,
  terminal: Terminal,
): void {
  const loaded =
    demo.loadedPoints === 0
      ? 'was up to the present'
      : `took ${demo.loadedPoints.toLocaleString('en')} points in ${demo.loadSeconds.toFixed(1)} s`
  // A certificate that only this machine made is not known to curl.
  const curl = settings.server.tls === null ? 'curl -s' : 'curl -sk'
  const key = `-H 'X-Api-Key: ${demo.key}'`
  const post = (body: string) =>
    `  ${curl} ${url}/historian/multi ${key} -H 'Content-Type: application/json' -d '${body}'`
  say(terminal)
  say(terminal, `The demo plant ${loaded} and goes on, a point of each tag every 10 s.`)
  say(terminal, 'Try these; their key reads the demo alone, and ends with this process:')
  say(terminal, `  ${curl} '${url}/historian/search?historian=demo' ${key}`)
  say(terminal, post('{"requests":{"level":{"type":"CURRENT_POINT","tag":"demo/T101.LEVEL"}}}'))
  say(
    terminal,
    post(
      '{"requests":{"pumped today, m3":{"type":"CURRENT_POINT","tag":"calc/TOTALISE(demo/T101.OUTFLOW, DAY, BEGIN_DAY, 1h)"},' +
        '"by the hour":{"type":"MULTIPLE_AGGREGATED_POINTS","tag":"demo/R201.TEMP",' +
        '"details":{"from":"today","to":"now","interval":"1h","aggregates":["MIN","AVG","MAX"]}}}}',
    ),
  )
}
