import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../client/free-port.ts'
import { HttpClient } from '../client/http-client.ts'
import type { Peer } from './peer.ts'
import { folderBytes, REQUEST_SECONDS, serverFolder, startServer } from './server.ts'

interface Answer {
  readonly results: readonly {
    readonly error?: string
    readonly series?: readonly { readonly values: readonly (readonly (number | null)[])[] }[]
  }[]
}

/** InfluxDB 1.x: one measurement, the tag name in a tag, the value in a field. */
export async function startInflux(): Promise<Peer> {
  const folder = serverFolder('influxdb')
  const port = await freePort()
  const path = (name: string) => JSON.stringify(join(folder, name))
  writeFileSync(
    join(folder, 'influxdb.conf'),
    `reporting-disabled = true
bind-address = "127.0.0.1:${await freePort()}"
[meta]
dir = ${path('meta')}
[data]
dir = ${path('data')}
wal-dir = ${path('wal')}
query-log-enabled = false
max-select-series = 0
[coordinator]
query-timeout = "${REQUEST_SECONDS}s"
[http]
bind-address = "127.0.0.1:${port}"
log-enabled = false
max-row-limit = 0
max-body-size = 0
[monitor]
store-enabled = false
[logging]
level = "error"
`,
  )
  const http = new HttpClient(port)
  const server = await startServer('influxd', ['-config', join(folder, 'influxdb.conf')], folder, () =>
    http.send(http.request('GET', '/ping', null)),
  )
  const query = (text: string, count: (series: readonly Series[]) => number) => {
    const body = `q=${encodeURIComponent(text)}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = http.request('POST', '/query?db=bench&epoch=ms', body, headers)
    return http.askJson<Answer>(request, ({ results }) => {
      for (const { error } of results) if (error !== undefined) throw new Error(error)
      return count(results.flatMap(({ series }) => series ?? []))
    })
  }
  await query('CREATE DATABASE bench', () => 0)()
  const anyOf = (tags: readonly string[]) => tags.map((tag) => `"name"='${tag}'`).join(' OR ')
  const within = (from: number, to: number) => `time >= ${from}ms AND time < ${to}ms`
  return {
    name: 'influxdb',
    syncs: true,
    server,
    write({ tags, times, values }) {
      const lines = tags.flatMap((tag, index) =>
        times.map((time, point) => `m,name=${tag} v=${values[index * times.length + point]} ${time}`),
      )
      const request = http.request('POST', '/write?db=bench&precision=ms', lines.join('\n'))
      return http.ask(request, () => values.length)
    },
    settle: async () => {},
    current: (tags) =>
      query(`SELECT last(v) FROM m WHERE ${anyOf(tags)} GROUP BY "name"`, (series) => series.length),
    raw: (tag, from, to) =>
      query(
        `SELECT v FROM m WHERE "name"='${tag}' AND ${within(from, to)}`,
        (series) => series[0]!.values.length,
      ),
    values: (tags, from, to, each) =>
      query(
        `SELECT mean(v) FROM m WHERE (${anyOf(tags)}) AND ${within(from, to)} GROUP BY "name", time(${(to - from) / each}ms)`,
        (series) => series.reduce((sum, { values }) => sum + values.length, 0),
      ),
    aggregates(tag, from, to, windows) {
      const text = `SELECT count(v), min(v), max(v), mean(v) FROM m WHERE "name"='${tag}' AND ${within(from, to)}`
      return query(windows === 1 ? text : `${text} GROUP BY time(${(to - from) / windows}ms)`, (series) =>
        series[0]!.values.reduce((sum, [, count]) => sum + (count ?? 0), 0),
      )
    },
    data: async () => ({ bytes: folderBytes(join(folder, 'data')), what: 'without its log' }),
    interrupt: () => http.interrupt(),
    close: async () => http.interrupt(),
  }
}

type Series = NonNullable<Answer['results'][number]['series']>[number]
