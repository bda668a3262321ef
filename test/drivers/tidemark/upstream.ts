import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TidemarkConfig, tidemarkConfigSchema } from '../../../src/drivers/tidemark/config.ts'
import { TidemarkHistorian } from '../../../src/drivers/tidemark/driver.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { type RunningService, serve, temporaryFolder } from '../../cli/run.ts'
import { freePort } from '../../servers/required.ts'

/** A service of its own process whose historians others connect to. */
export interface Upstream {
  readonly service: RunningService
  readonly folder: string
  readonly writeKey: string
  readonly readKey: string
  /** Starts it again on the same data and, unless another is given, at the same port. */
  restart(port?: number): Promise<void>
}

/** Starts a service with embedded historians of these names, or with whatever the YAML of `historians` says. */
export async function startUpstream(historians: string, settings = ''): Promise<Upstream> {
  const folder = await temporaryFolder()
  const lines = historians.includes(':')
    ? historians
    : historians
        .split(',')
        .map((name) => `  ${name}: {type: embedded}`)
        .join('\n')
  await writeFile(join(folder, 'tidemark.yaml'), `${settings}\nhistorians:\n${lines}\n`)
  const start = (port: number) => serve(['--port', String(port)], { cwd: folder })
  let service = await start(await freePort())
  const { writeKey, readKey } = service
  return {
    get service() {
      return service
    },
    folder,
    writeKey,
    readKey,
    restart: async (port = Number(new URL(service.url).port)) => {
      service = await start(port)
    },
  }
}

/** Names of variables that hold keys; each is another one, so that tests do not meet. */
let variables = 0

/** The configuration of a historian that leads to one there. */
export function configFor(
  { service, writeKey }: Pick<Upstream, 'service' | 'writeKey'>,
  historian: string,
  options: Partial<Record<keyof TidemarkConfig, unknown>> & { readonly secret?: string } = {},
): TidemarkConfig {
  const { secret = writeKey, ...more } = options
  const env = `TIDEMARK_TEST_KEY_${++variables}`
  process.env[env] = secret
  return tidemarkConfigSchema.parse({ url: service.url, historian, key: { env }, writable: true, ...more })
}

export interface Connected {
  readonly historian: TidemarkHistorian
  readonly meter: QueryMeter
  /** What the driver said to the log. */
  readonly log: readonly string[]
}

/** Opens a historian and waits until it knows the other instance, if that is there. */
export async function connect(config: TidemarkConfig, name = 'site', wait = true): Promise<Connected> {
  const meter = new QueryMeter()
  const lines: string[] = []
  const say = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: say, warn: say, error: say }
  const historian = new TidemarkHistorian(config, { name, directory: '/nowhere', log, meter })
  if (wait) await historian.checkHealth({ signal: new AbortController().signal })
  return { historian, meter, log: lines }
}
