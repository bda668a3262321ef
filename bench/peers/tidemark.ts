import { join } from 'node:path'
import { HISTORIANS_FOLDER } from '../../src/storage/directory/layout.ts'
import { HttpClient } from '../client/http-client.ts'
import { startService } from '../service.ts'
import { bytesIn } from '../storage/plant.ts'
import type { Peer } from './peer.ts'
import { REQUEST_SECONDS, watch } from './server.ts'

type Aggregates = readonly { readonly count: number }[] | { readonly count: readonly number[] }

interface Result {
  readonly dataPoint?: { value: number }
  readonly dataPoints?: readonly unknown[] | { readonly values: readonly unknown[] }
  readonly aggregates?: Aggregates
}

interface Answer {
  readonly results: Readonly<Record<string, Result>>
}

/** This project over its HTTP interface, points in the form named. */
export async function startTidemark(form: 'rows' | 'columns'): Promise<Peer> {
  const service = await startService({
    TIDEMARK_HISTORIAN_LOAD: '100000000',
    TIDEMARK_REQUESTED_POINTS: '100000000',
    TIDEMARK_DEADLINE_SECONDS: String(REQUEST_SECONDS),
  })
  const http = new HttpClient(service.port, { 'content-type': 'application/json', 'x-api-key': service.key })
  const multi = (tags: readonly string[], request: object, count: (results: readonly Result[]) => number) => {
    const requests = Object.fromEntries(tags.map((tag) => [tag, { ...request, tag: `local/${tag}` }]))
    const body = JSON.stringify(form === 'columns' ? { requests, format: 'columns' } : { requests })
    return http.askJson<Answer>(http.request('POST', '/historian/multi', body), ({ results }) =>
      count(Object.values(results)),
    )
  }
  const countPoints = (results: readonly Result[]) =>
    results.reduce((sum, result) => sum + lengthOf(result), 0)
  return {
    name: `tidemark, ${form}`,
    syncs: true,
    server: watch(service.pid, service.dataDir, () => service.stop()),
    write({ tags, times, values }) {
      const entries = tags.map((tag, index) => {
        const of = (point: number) => values[index * times.length + point]
        const points =
          form === 'rows'
            ? `[${times.map((time, point) => `{"timestamp":${time},"value":${of(point)}}`).join(',')}]`
            : `{"unit":"ms","timestamps":[${times.join(',')}],"values":[${times.map((_, point) => of(point)).join(',')}]}`
        return `${JSON.stringify(`local/${tag}`)}:${points}`
      })
      const body = `{"createTags":true,"points":{${entries.join(',')}}}`
      return http.ask(http.request('POST', '/historian/write/points', body), () => values.length)
    },
    settle: async () => {},
    current: (tags) =>
      multi(
        tags,
        { type: 'CURRENT_POINT' },
        (results) => results.filter(({ dataPoint }) => typeof dataPoint?.value === 'number').length,
      ),
    raw: (tag, from, to) =>
      multi([tag], { type: 'RAW_POINTS', details: { from, to, maxPoints: 10_000_000 } }, countPoints),
    values: (tags, from, to, each) =>
      multi(tags, { type: 'INTERPOLATED_POINTS', details: { from, to, count: each } }, countPoints),
    aggregates(tag, from, to, windows) {
      const aggregates = ['COUNT', 'MIN', 'MAX', 'AVG']
      const details = { from, to, count: windows, aggregates }
      return multi([tag], { type: 'MULTIPLE_AGGREGATED_POINTS', details }, ([result]) =>
        sumOf(result!.aggregates!),
      )
    },
    data: async () => storedBytes(service.dataDir),
    interrupt: () => http.interrupt(),
    close: async () => http.interrupt(),
  }
}

function lengthOf({ dataPoints }: Result): number {
  return Array.isArray(dataPoints) ? dataPoints.length : (dataPoints as { values: unknown[] }).values.length
}

/** Files of the historian, the log included and the reserve not, beside the service that has it open. */
function storedBytes(dataDir: string) {
  const folder = join(dataDir, HISTORIANS_FOLDER)
  const bytes = bytesIn(folder, (path) => !path.endsWith('/reserve'))
  const log = bytesIn(folder, (path) => path.endsWith('.wal'))
  return { bytes, what: `files, ${((100 * log) / bytes).toFixed(0)} % of it the log's` }
}

/** Points of all windows, in rows or columns. */
function sumOf(aggregates: Aggregates): number {
  const counts = 'count' in aggregates ? aggregates.count : aggregates.map(({ count }) => count)
  return counts.reduce((sum: number, count: number) => sum + count, 0)
}
