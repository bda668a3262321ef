import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findServer, freePort, type ServerProcess, serverFolder, startServer } from './required.ts'

/** Debian's package has the server in sbin. */
export const clickhouseServer = findServer(
  'clickhouse-server',
  'clickhouse-server',
  '/usr/sbin/clickhouse-server',
  '/usr/bin/clickhouse-server',
)

/** What tests of statements need: the HTTP interface of a server, or of an engine without one. */
export interface ClickhouseEngine {
  /** Of the HTTP interface. */
  readonly url: string
  /** Runs SQL as its administrator and gives what it answers. */
  sql(text: string): Promise<string>
  kill(): Promise<void>
}

export interface ClickhouseServer extends ClickhouseEngine {
  readonly process: ServerProcess
  /** Ends it and starts it again with the same data. */
  restart(signal?: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

/** Name and password of a user that is no administrator, in every server started here. */
export const PLAIN_USER = { user: 'gateway', password: "pass'word ø" } as const

/** A server of its own in a folder that is gone after the tests. */
export async function startClickhouse(): Promise<ClickhouseServer> {
  if (clickhouseServer.path === null) throw new Error(clickhouseServer.skip)
  const folder = serverFolder('clickhouse')
  const [http, tcp, interserver] = [await freePort(), await freePort(), await freePort()]
  writeFileSync(
    join(folder, 'config.xml'),
    serverConfig({ folder, host: '127.0.0.1', http, tcp, interserver }),
  )
  writeFileSync(join(folder, 'users.xml'), usersConfig())
  for (const name of ['data', 'tmp', 'files', 'log']) mkdirSync(join(folder, name))
  return runClickhouse(folder, `http://127.0.0.1:${http}`)
}

/** Starts the server that a folder holds the configuration of. @param question that it answers once it is ready */
export async function runClickhouse(
  folder: string,
  url: string,
  question = 'SELECT 1',
): Promise<ClickhouseServer> {
  const start = () =>
    startServer({
      command: clickhouseServer.path!,
      args: [`--config-file=${join(folder, 'config.xml')}`],
      cwd: folder,
      probe: async () =>
        (await fetch(url, { method: 'POST', body: question, signal: AbortSignal.timeout(5_000) })).ok,
    })
  let process = await start()
  const server: ClickhouseServer = {
    url,
    get process() {
      return process
    },
    async sql(text) {
      const answer = await fetch(url, { method: 'POST', body: text })
      const body = await answer.text()
      if (!answer.ok) throw new Error(body)
      return body.trim()
    },
    async restart(signal) {
      await process.stop(signal)
      process = await start()
    },
    stop: () => process.stop(),
    kill: () => process.kill(),
    async start() {
      process = await start()
    },
  }
  return server
}

interface ServerPlace {
  readonly folder: string
  readonly host: string
  readonly http: number
  readonly tcp: number
  readonly interserver: number
}

/** The smallest configuration that the server starts with; what a cluster needs is added in `more`. */
export function serverConfig({ folder, host, http, tcp, interserver }: ServerPlace, more = ''): string {
  return `<yandex>
  <logger><level>warning</level><log>${folder}/log/server.log</log><errorlog>${folder}/log/error.log</errorlog></logger>
  <listen_host>${host}</listen_host>
  <http_port>${http}</http_port><tcp_port>${tcp}</tcp_port>
  <interserver_http_port>${interserver}</interserver_http_port><interserver_http_host>${host}</interserver_http_host>
  <max_concurrent_queries>100</max_concurrent_queries><keep_alive_timeout>10</keep_alive_timeout>
  <mark_cache_size>134217728</mark_cache_size>
  <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path><user_files_path>${folder}/files/</user_files_path>
  <users_config>${folder}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  ${more}
</yandex>
`
}

/** An administrator without a password for connections from this machine, and a user with one. */
export function usersConfig(): string {
  const network = '<networks><ip>127.0.0.0/8</ip></networks><profile>default</profile><quota>default</quota>'
  return `<yandex>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
  <users>
    <default><password></password>${network}</default>
    <${PLAIN_USER.user}><password>${PLAIN_USER.password}</password>${network}</${PLAIN_USER.user}>
  </users>
  <quotas><default/></quotas>
</yandex>
`
}
