import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  bytesOf,
  decodeBlocks,
  encodeBlock,
  encodeInts,
  encodeTexts,
} from '../../src/drivers/clickhouse/native.ts'
import { clickhouseServer, serverConfig, usersConfig } from '../../test/servers/clickhouse.ts'
import { freePort } from '../client/free-port.ts'
import { HttpClient } from '../client/http-client.ts'
import type { Peer } from './peer.ts'
import { REQUEST_SECONDS, serverFolder, startServer } from './server.ts'

/**
 * ClickHouse over HTTP: one table sorted by tag and time, columns in its format Native both ways. Points that are
 * written again are replaced when parts are merged; reads do not wait for that (no FINAL).
 */
export async function startClickhouse(): Promise<Peer> {
  const folder = serverFolder('clickhouse')
  const [port, tcp, interserver] = [await freePort(), await freePort(), await freePort()]
  writeFileSync(
    join(folder, 'config.xml'),
    serverConfig({ folder, host: '127.0.0.1', http: port, tcp, interserver }),
  )
  writeFileSync(join(folder, 'users.xml'), usersConfig())
  for (const name of ['data', 'tmp', 'files', 'log']) mkdirSync(join(folder, name))
  const http = new HttpClient(port)
  const settings = `max_execution_time=${REQUEST_SECONDS}`
  const sql = (text: string) => http.request('POST', `/?${settings}`, text)
  const server = await startServer(
    clickhouseServer.path!,
    [`--config-file=${join(folder, 'config.xml')}`],
    folder,
    () => http.send(sql('SELECT 1')),
  )
  await http.send(
    sql(
      'CREATE TABLE points (tag String, time Int64, value Float64) ENGINE = ReplacingMergeTree ORDER BY (tag, time)',
    ),
  )
  const list = (tags: readonly string[]) => tags.map((tag) => `'${tag}'`).join(',')
  const within = (from: number, to: number) => `time >= ${from} AND time < ${to}`
  return {
    name: 'clickhouse',
    syncs: false,
    server,
    write({ tags, times, values }) {
      const each = times.length
      const columns = [
        { name: 'tag', type: 'String', bytes: encodeTexts(tags.flatMap((tag) => times.map(() => tag))) },
        {
          name: 'time',
          type: 'Int64',
          bytes: encodeInts(Float64Array.from(values, (_, point) => times[point % each]!)),
        },
        { name: 'value', type: 'Float64', bytes: bytesOf(Float64Array.from(values, Number)) },
      ] as const
      const body = Buffer.concat(encodeBlock(values.length, columns))
      const path = `/?${settings}&query=${encodeURIComponent('INSERT INTO points FORMAT Native')}`
      return http.ask(http.request('POST', path, body), () => values.length)
    },
    settle: async () => {},
    current: (tags) =>
      http.ask(
        sql(
          `SELECT tag, max(time) AS t, argMax(value, time) AS v FROM points WHERE tag IN (${list(tags)}) GROUP BY tag FORMAT Native`,
        ),
        (body) => decodeBlocks(body, { tag: 'text', t: 'number', v: 'number' }).rows,
      ),
    raw: (tag, from, to) =>
      http.ask(
        sql(
          `SELECT time, value FROM points WHERE tag = '${tag}' AND ${within(from, to)} ORDER BY time FORMAT Native`,
        ),
        (body) => decodeBlocks(body, { time: 'number', value: 'number' }).rows,
      ),
    values: (tags, from, to, each) =>
      http.ask(
        sql(
          `SELECT tag, intDiv(time - ${from}, ${(to - from) / each}) AS s, avg(value) AS v FROM points WHERE tag IN (${list(tags)}) AND ${within(from, to)} GROUP BY tag, s ORDER BY tag, s FORMAT Native`,
        ),
        (body) => decodeBlocks(body, { tag: 'text', s: 'number', v: 'number' }).rows,
      ),
    aggregates: (tag, from, to, windows) =>
      http.ask(
        sql(
          `SELECT intDiv(time - ${from}, ${(to - from) / windows}) AS w, count() AS n, min(value) AS a, max(value) AS z, avg(value) AS v FROM points WHERE tag = '${tag}' AND ${within(from, to)} GROUP BY w ORDER BY w FORMAT Native`,
        ),
        (body) =>
          decodeBlocks(body, { w: 'number', n: 'number', a: 'number', z: 'number', v: 'number' }).n.reduce(
            (sum, count) => sum + count,
            0,
          ),
      ),
    async data() {
      const text = "SELECT sum(bytes) FROM system.parts WHERE active AND table = 'points'"
      return { bytes: Number((await http.send(sql(text))).toString()), what: 'parts in use' }
    },
    interrupt: () => http.interrupt(),
    close: async () => http.interrupt(),
  }
}
