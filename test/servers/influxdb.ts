import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findServer, freePort, type ServerProcess, serverFolder, startServer } from './required.ts'

/** Debian's influxdb, InfluxDB 1.6. */
export const foundInflux = findServer('InfluxDB', 'influxd')

export interface InfluxServerOptions {
  /** Whether users and passwords are asked for; `admin` with the password `admin secret` is made then. */
  readonly auth?: boolean
}

/** A server of the tests' own, in a folder that is gone after them. */
export class InfluxServer {
  readonly url: string
  readonly #folder: string
  readonly #configuration: string
  readonly #auth: boolean
  #process: ServerProcess | null = null

  private constructor(folder: string, port: number, rpcPort: number, auth: boolean) {
    this.url = `http://127.0.0.1:${port}`
    this.#folder = folder
    this.#auth = auth
    this.#configuration = join(folder, 'influxdb.conf')
    writeFileSync(this.#configuration, configuration(folder, port, rpcPort, auth))
  }

  /** Starts one with the databases named. */
  static async start(databases: readonly string[], options: InfluxServerOptions = {}): Promise<InfluxServer> {
    const folder = serverFolder('influxdb')
    for (const name of ['meta', 'data', 'wal']) mkdirSync(join(folder, name))
    const server = new InfluxServer(folder, await freePort(), await freePort(), options.auth ?? false)
    await server.restart()
    if (options.auth) await server.query(`CREATE USER admin WITH PASSWORD 'admin secret' WITH ALL PRIVILEGES`)
    for (const name of databases) await server.query(`CREATE DATABASE "${name}"`)
    return server
  }

  /** The server's process; it has to be started. */
  get process(): ServerProcess {
    if (this.#process === null) throw new Error('The server is not started')
    return this.#process
  }

  /**
   * Starts it again, at the same place, after `stop` or `kill`.
   * @param options `maxFileKiB`: no file becomes larger, and a write that needs it fails
   */
  async restart(options: { readonly maxFileKiB?: number } = {}): Promise<void> {
    const { maxFileKiB } = options
    const command = [foundInflux.path!, '-config', this.#configuration]
    // Go ignores the signal of a file that is too large: what it is told is that the write failed, as on a full disk.
    const limited = ['bash', '-c', 'ulimit -f "$0" && exec "$@"', String(maxFileKiB), ...command]
    const [program, ...args] = maxFileKiB === undefined ? command : limited
    this.#process = await startServer({
      command: program!,
      args,
      cwd: this.#folder,
      probe: async () => (await fetch(`${this.url}/ping`)).status === 204,
    })
  }

  async stop(): Promise<void> {
    await this.#process?.stop()
    this.#process = null
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#process?.kill()
    this.#process = null
  }

  /** Waits until what it had in memory of a database is in files: it copies what is in memory for each statement. */
  async settle(database: string): Promise<void> {
    const files = join(this.#folder, 'data', database)
    for (let written = -1, before = -2; written < 1 || written !== before; ) {
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      before = written
      written = globSync('**/*.tsm', { cwd: files }).length
    }
  }

  /** Asks it itself, past Tidemark; the answer's JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
  async query(text: string, database = ''): Promise<any> {
    const parameters = new URLSearchParams({ q: text, db: database, epoch: 'u' })
    const answer = await fetch(`${this.url}/query`, {
      method: 'POST',
      body: parameters,
      headers: this.#headers(),
    })
    const json = (await answer.json()) as { results?: { error?: string }[]; error?: string }
    const error = json.error ?? json.results?.find((result) => result.error !== undefined)?.error
    if (error !== undefined) throw new Error(`${text.slice(0, 100)}: ${error}`)
    return json
  }

  /** Writes lines to it itself, past Tidemark. */
  async write(database: string, lines: string, precision = 'u'): Promise<void> {
    const parameters = new URLSearchParams({ db: database, precision })
    const answer = await fetch(`${this.url}/write?${parameters}`, {
      method: 'POST',
      body: lines,
      headers: this.#headers(),
    })
    if (answer.status !== 204) throw new Error(await answer.text())
    await answer.body?.cancel()
  }

  #headers(): Record<string, string> {
    if (!this.#auth) return {}
    return { authorization: `Basic ${Buffer.from('admin:admin secret').toString('base64')}` }
  }
}

function configuration(folder: string, port: number, rpcPort: number, auth: boolean): string {
  return `reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
  query-log-enabled = false
  cache-snapshot-write-cold-duration = "2s"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  auth-enabled = ${auth}
  log-enabled = false
[continuous_queries]
  enabled = false
`
}
