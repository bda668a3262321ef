import { join } from 'node:path'
import { freePort } from '../client/free-port.ts'
import { HttpClient } from '../client/http-client.ts'
import type { Peer } from './peer.ts'
import { folderBytes, REQUEST_SECONDS, serverFolder, startServer } from './server.ts'

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly value?: readonly [number, string]
      readonly values?: readonly unknown[]
      readonly metric: Readonly<Record<string, string>>
    }[]
  }
}

/** VictoriaMetrics: a metric for each tag, JSON lines in, the Prometheus interface out. */
export async function startVictoriaMetrics(): Promise<Peer> {
  const folder = serverFolder('victoria-metrics')
  const port = await freePort()
  const http = new HttpClient(port)
  const server = await startServer(
    'victoria-metrics',
    [
      `-storageDataPath=${folder}/data`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=100y',
      '-loggerLevel=ERROR',
      '-search.maxPointsPerTimeseries=10000000',
      '-search.latencyOffset=0s',
      `-search.maxQueryDuration=${REQUEST_SECONDS}s`,
      `-search.maxExportDuration=${REQUEST_SECONDS}s`,
    ],
    folder,
    () => http.send(http.request('GET', '/health', null)),
  )
  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    count: (result: Answer['data']['result']) => number,
  ) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = http.request('POST', path, new URLSearchParams(fields).toString(), headers)
    return http.askJson<Answer>(request, ({ data }) => count(data.result))
  }
  const anyOf = (tags: readonly string[]) => `{__name__=~"${tags.join('|')}"}`
  return {
    name: 'victoria-metrics',
    syncs: false,
    server,
    write({ tags, times, values }) {
      const lines = tags.map(
        (tag, index) =>
          `{"metric":{"__name__":"${tag}"},"values":[${values.slice(index * times.length, (index + 1) * times.length).join(',')}],"timestamps":[${times.join(',')}]}`,
      )
      return http.ask(http.request('POST', '/api/v1/import', lines.join('\n')), () => values.length)
    },
    settle: async () => {
      await http.send(http.request('GET', '/internal/force_flush', null))
    },
    current: (tags) =>
      post(
        '/api/v1/query',
        { query: `last_over_time(${anyOf(tags)}[10y])`, nocache: '1' },
        (result) => result.length,
      ),
    raw(tag, from, to) {
      const path = `/api/v1/export?match[]=${encodeURIComponent(`{__name__="${tag}"}`)}&start=${from / 1000}&end=${(to - 1) / 1000}`
      return http.ask(http.request('GET', path, null), (body) =>
        body
          .toString()
          .trim()
          .split('\n')
          .reduce((sum, line) => sum + (JSON.parse(line) as { values: unknown[] }).values.length, 0),
      )
    },
    values(tags, from, to, each) {
      const step = (to - from) / each
      const fields = {
        query: anyOf(tags),
        start: String(from / 1000),
        end: String((to - step) / 1000),
        step: `${step}ms`,
        nocache: '1',
      }
      return post('/api/v1/query_range', fields, (result) =>
        result.reduce((sum, { values }) => sum + values!.length, 0),
      )
    },
    aggregates(tag, from, to, windows) {
      const step = (to - from) / windows
      const query = `aggr_over_time(("count_over_time","min_over_time","max_over_time","avg_over_time"), ${tag}[${step}ms])`
      // A window ends with its time, which belongs to it.
      const fields = {
        query,
        start: String((from + step - 1) / 1000),
        end: String((to - 1) / 1000),
        step: `${step}ms`,
        nocache: '1',
      }
      return post('/api/v1/query_range', fields, (result) => {
        const counts = result.find(({ metric }) => Object.values(metric).includes('count_over_time'))!
        return (counts.values as [number, string][]).reduce((sum, [, count]) => sum + Number(count), 0)
      })
    },
    data: async () => ({ bytes: folderBytes(join(folder, 'data')), what: 'it has no log' }),
    interrupt: () => http.interrupt(),
    close: async () => http.interrupt(),
  }
}
