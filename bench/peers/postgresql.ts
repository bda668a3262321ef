import { execFileSync } from 'node:child_process'
import { chmodSync, globSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect } from '../measure.ts'
import type { Peer } from './peer.ts'
import { freePort, serverFolder, startServer } from './server.ts'

/** PostgreSQL as it is installed: one table with a key of tag and time, arrays in, prepared statements. */
export async function startPostgres(): Promise<Peer> {
  const folder = serverFolder('postgresql')
  const port = await freePort()
  const programs = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
  expect(programs !== undefined, 'PostgreSQL is installed')
  chmodSync(folder, 0o777)
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []
  const run = (program: string, ...args: string[]) => [...as, join(programs, program), ...args]
  const [initdb, ...initArgs] = run('initdb', '-D', `${folder}/data`, '-A', 'trust', '-U', 'bench')
  execFileSync(initdb!, initArgs, { stdio: 'ignore', cwd: '/' })
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'bench', database: 'postgres', max: 16 })
  pool.on('error', () => {})
  const [command, ...args] = run(
    'postgres',
    '-D',
    `${folder}/data`,
    '-p',
    String(port),
    '-k',
    folder,
    '-c',
    'shared_buffers=512MB',
    '-c',
    'max_wal_size=4GB',
  )
  const server = await startServer(command!, args, folder, () => pool.query('SELECT 1'))
  await pool.query('CREATE TABLE points (tag text, time bigint, value float8, PRIMARY KEY (tag, time))')
  const rows = async (name: string, text: string, values: unknown[]) =>
    (await pool.query({ name, text, values, rowMode: 'array' })).rows as unknown[][]
  return {
    name: 'postgresql',
    syncs: true,
    server,
    prepareWrite({ tags, times, values }) {
      const arrays = [
        tags.flatMap((tag) => times.map(() => tag)),
        tags.flatMap(() => times),
        values.map(Number),
      ]
      const text =
        'INSERT INTO points SELECT * FROM unnest($1::text[], $2::bigint[], $3::float8[]) ON CONFLICT (tag, time) DO UPDATE SET value = excluded.value'
      return async () => {
        await pool.query({ name: 'write', text, values: arrays })
      }
    },
    settle: async () => {
      await pool.query('ANALYZE points')
    },
    current: async (tags) =>
      (
        await rows(
          'current',
          'SELECT t.tag, p.time, p.value FROM unnest($1::text[]) t(tag) CROSS JOIN LATERAL (SELECT time, value FROM points WHERE points.tag = t.tag ORDER BY time DESC LIMIT 1) p',
          [tags],
        )
      ).length,
    raw: async (tag, from, to) =>
      (
        await rows(
          'raw',
          'SELECT time, value FROM points WHERE tag = $1 AND time >= $2 AND time < $3 ORDER BY time',
          [tag, from, to],
        )
      ).length,
    values: async (tags, from, to, each) =>
      (
        await rows(
          'values',
          'SELECT tag, (time - $2) / $4 AS step, avg(value) FROM points WHERE tag = ANY($1) AND time >= $2 AND time < $3 GROUP BY 1, 2 ORDER BY 1, 2',
          [tags, from, to, (to - from) / each],
        )
      ).length,
    aggregates: async (tag, from, to, windows) =>
      (
        await rows(
          'aggregates',
          'SELECT (time - $2) / $4 AS w, count(*), min(value), max(value), avg(value) FROM points WHERE tag = $1 AND time >= $2 AND time < $3 GROUP BY 1 ORDER BY 1',
          [tag, from, to, (to - from) / windows],
        )
      ).reduce((sum, row) => sum + Number(row[1]), 0),
    close: () => pool.end(),
  }
}
