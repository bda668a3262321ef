import { execFileSync } from 'node:child_process'
import { chmodSync, globSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../client/free-port.ts'
import { expect } from '../measure.ts'
import type { Peer } from './peer.ts'
import { binary, PostgresClient, readColumns } from './postgres-client.ts'
import { REQUEST_SECONDS, serverFolder, startServer } from './server.ts'

const STATEMENTS = {
  write:
    'INSERT INTO points SELECT * FROM unnest($1::text[], $2::bigint[], $3::float8[]) ON CONFLICT (tag, time) DO UPDATE SET value = excluded.value',
  current:
    'SELECT t.tag, p.time, p.value FROM unnest($1::text[]) t(tag) CROSS JOIN LATERAL (SELECT time, value FROM points WHERE points.tag = t.tag ORDER BY time DESC LIMIT 1) p',
  raw: 'SELECT time, value FROM points WHERE tag = $1::text AND time >= $2::bigint AND time < $3::bigint ORDER BY time',
  values:
    'SELECT tag, (time - $2::bigint) / $4::bigint AS step, avg(value) FROM points WHERE tag = ANY($1::text[]) AND time >= $2 AND time < $3::bigint GROUP BY 1, 2 ORDER BY 1, 2',
  aggregates:
    'SELECT (time - $2::bigint) / $4::bigint AS w, count(*), min(value), max(value), avg(value) FROM points WHERE tag = $1::text AND time >= $2 AND time < $3::bigint GROUP BY 1 ORDER BY 1',
}

/**
 * PostgreSQL as it is installed: one table with a key of tag and time, arrays in, prepared statements, binary values.
 */
export async function startPostgres(): Promise<Peer> {
  const folder = serverFolder('postgresql')
  const port = await freePort()
  const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
  expect(programs !== undefined, 'PostgreSQL is installed')
  chmodSync(folder, 0o777)
  // It refuses to run as root.
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  const owner = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : undefined
  const data = `${folder}/data`
  execFileSync(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bench'], {
    stdio: 'ignore',
    cwd: '/',
    ...owner,
  })
  const settings = ['shared_buffers=512MB', 'max_wal_size=4GB', `statement_timeout=${REQUEST_SECONDS}s`]
  const args = [
    ...['-D', data, '-p', String(port), '-k', folder],
    ...settings.flatMap((setting) => ['-c', setting]),
  ]
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'bench', database: 'postgres', max: 1 })
  pool.on('error', () => {})
  const program = join(programs, 'postgres')
  const server = await startServer(program, args, folder, () => pool.query('SELECT 1'), {
    ...(owner === undefined ? {} : { owner }),
    signal: 'SIGQUIT',
  })
  await pool.query('CREATE TABLE points (tag text, time bigint, value float8, PRIMARY KEY (tag, time))')
  const client = new PostgresClient(port, 'bench', STATEMENTS)
  return {
    name: 'postgresql',
    syncs: true,
    server,
    write({ tags, times, values }) {
      const parameters = [
        binary.texts(tags.flatMap((tag) => times.map(() => tag))),
        binary.ints(tags.flatMap(() => times)),
        binary.floats(values.map(Number)),
      ]
      return client.ask('write', parameters, () => values.length)
    },
    settle: async () => {
      await pool.query('ANALYZE points')
    },
    current: (tags) =>
      client.ask(
        'current',
        [binary.texts(tags)],
        (answer) => readColumns(answer, ['text', 'int', 'float'])[0]!.length,
      ),
    raw: (tag, from, to) =>
      client.ask(
        'raw',
        [binary.text(tag), binary.int(from), binary.int(to)],
        (answer) => readColumns(answer, ['int', 'float'])[0]!.length,
      ),
    values: (tags, from, to, each) =>
      client.ask(
        'values',
        [binary.texts(tags), binary.int(from), binary.int(to), binary.int((to - from) / each)],
        (answer) => readColumns(answer, ['text', 'int', 'float'])[0]!.length,
      ),
    aggregates: (tag, from, to, windows) =>
      client.ask(
        'aggregates',
        [binary.text(tag), binary.int(from), binary.int(to), binary.int((to - from) / windows)],
        (answer) => {
          const [, counts] = readColumns(answer, ['int', 'int', 'float', 'float', 'float'])
          return (counts as number[]).reduce((sum, count) => sum + count, 0)
        },
      ),
    data: async () => {
      const { rows } = await pool.query("SELECT pg_total_relation_size('points') AS bytes")
      return { bytes: Number(rows[0].bytes), what: 'table and index, without its log' }
    },
    interrupt: () => client.interrupt(),
    close: async () => {
      client.interrupt()
      await pool.end()
    },
  }
}
