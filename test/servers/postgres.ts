import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { DriverEnvironment } from '../../src/historian/driver.ts'
import { QueryMeter } from '../../src/historian/remote/meter.ts'
import {
  findServer,
  freePort,
  type Owner,
  type ServerProcess,
  serverFolder,
  startServer,
} from './required.ts'

/** PostgreSQL, wherever Debian or others put it; `skip` says why its tests cannot run. */
export const found = findServer('PostgreSQL', 'postgres', '/usr/lib/postgresql/*/bin/postgres')

/** A PostgreSQL of the tests' own: its data in a temporary folder, its port free, gone afterwards. */
export interface PostgresServer {
  readonly port: number
  /** Superuser; everybody on the loopback is believed unless `hba` says otherwise. */
  readonly user: string
  readonly database: string
  /** Settings of a historian in a schema of its own. */
  config(schema: string): Record<string, unknown>
  /** Runs SQL as the superuser and gives the rows. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Ends it: `fast` as an operator does, `immediate` as a crash would. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Stops it where it stands, without ending it. */
  freeze(): void
  thaw(): void
}

export interface PostgresOptions {
  /** Lines of pg_hba.conf in place of trust for all. */
  readonly hba?: string
  /** Further lines of postgresql.conf. */
  readonly settings?: string
}

/** Who the server runs as where that is somebody else: it refuses to run as root, any other user will do. */
export const serverOwner = ownerOf()

function ownerOf(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    try {
      const id = (what: string) => Number(execFileSync('id', [what, user], { encoding: 'utf8' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // The next one.
    }
  }
  return undefined
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const program = found.path!
  const owner = serverOwner
  const folder = serverFolder('postgres', owner)
  const data = join(folder, 'data')
  execFileSync(
    join(dirname(program), 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { stdio: 'pipe', cwd: folder, ...owner },
  )
  if (options.hba !== undefined) writeFileSync(join(data, 'pg_hba.conf'), options.hba)
  const port = await freePort()
  let running: ServerProcess
  const launch = async () => {
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
      'max_connections=60',
      'shared_buffers=256MB',
      'max_wal_size=4GB',
      ...(options.settings?.split('\n').filter((line) => line !== '') ?? []),
    ]
    running = await startServer({
      command: program,
      args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      cwd: folder,
      ...(owner && { owner }),
      probe: () => takesConnections(port),
    })
  }
  await launch()
  const server: PostgresServer = {
    port,
    user: 'postgres',
    database: 'postgres',
    config: (schema) => ({ host: '127.0.0.1', port, database: 'postgres', user: 'postgres', schema }),
    async sql(text, values = []) {
      const client = new pg.Client({
        host: '127.0.0.1',
        port,
        database: 'postgres',
        user: 'postgres',
        ssl: false,
      })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query(text, values as unknown[])).rows ?? []
      } finally {
        await client.end()
      }
    },
    stop: (mode) => running.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
    start: launch,
    freeze: () => running.freeze(),
    thaw: () => running.thaw(),
  }
  return server
}

/** Whether it greets: an answer to the question for TLS comes only once it takes connections. */
function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      const startup = Buffer.from('\0\0\0\0\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1')
      startup.writeInt32BE(startup.length)
      socket.write(startup)
    })
    socket.setTimeout(2_000, () => end(false))
    const end = (up: boolean) => {
      socket.destroy()
      resolve(up)
    }
    // R asks for authentication or grants it; E refuses, as it does while it starts up.
    socket.once('data', (answer) => end(answer[0] === 'R'.charCodeAt(0)))
    socket.on('error', () => end(false)).on('close', () => end(false))
  })
}

const log = { info() {}, warn() {}, error() {} }

/** What a driver is given in tests; its meter can be read. */
export function testEnvironment(name = 'plant'): DriverEnvironment & { readonly meter: QueryMeter } {
  return { name, directory: '/nowhere', log, meter: new QueryMeter() }
}
