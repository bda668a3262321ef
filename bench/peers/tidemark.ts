import { startService } from '../service.ts'
import type { Peer } from './peer.ts'
import { HttpClient, watch } from './server.ts'

interface Answer {
  readonly results: Readonly<
    Record<
      string,
      {
        readonly dataPoint?: { value: number }
        readonly dataPoints?: { values: number[] }
        readonly aggregates?: { count: number }[]
      }
    >
  >
}

/** This project over its HTTP interface, points in the form named. */
export async function startTidemark(form: 'rows' | 'columns'): Promise<Peer> {
  const service = await startService({
    TIDEMARK_HISTORIAN_LOAD: '100000000',
    TIDEMARK_REQUESTED_POINTS: '100000000',
  })
  const http = new HttpClient(service.port)
  const headers = { 'content-type': 'application/json', 'x-api-key': service.key }
  const multi = async (requests: object) => {
    const body = JSON.stringify(form === 'columns' ? { requests, format: 'columns' } : { requests })
    return (await http.json<Answer>('POST', '/historian/multi', body, headers)).results
  }
  const address = (tag: string) => `local/${tag}`
  const label = (tags: readonly string[], request: (tag: string) => object) =>
    Object.fromEntries(tags.map((tag) => [tag, { ...request(tag), tag: address(tag) }]))
  return {
    name: `tidemark, ${form}`,
    syncs: true,
    server: watch(service.pid, service.dataDir, () => service.stop()),
    prepareWrite({ tags, times, values }) {
      const entries = tags.map((tag, index) => {
        const of = (point: number) => values[index * times.length + point]
        const points =
          form === 'rows'
            ? `[${times.map((time, point) => `{"timestamp":${time},"value":${of(point)}}`).join(',')}]`
            : `{"unit":"ms","timestamps":[${times.join(',')}],"values":[${times.map((_, point) => of(point)).join(',')}]}`
        return `${JSON.stringify(address(tag))}:${points}`
      })
      const body = Buffer.from(`{"createTags":true,"points":{${entries.join(',')}}}`)
      return async () => {
        await http.send('POST', '/historian/write/points', body, headers)
      }
    },
    settle: async () => {},
    async current(tags) {
      const results = await multi(label(tags, () => ({ type: 'CURRENT_POINT' })))
      return Object.values(results).filter(({ dataPoint }) => typeof dataPoint?.value === 'number').length
    },
    async raw(tag, from, to) {
      const details = { from, to, maxPoints: 10_000_000 }
      return lengthOf((await multi(label([tag], () => ({ type: 'RAW_POINTS', details }))))[tag]!)
    },
    async values(tags, from, to, each) {
      const details = { from, to, count: each }
      const results = await multi(label(tags, () => ({ type: 'INTERPOLATED_POINTS', details })))
      return Object.values(results).reduce((sum, result) => sum + lengthOf(result), 0)
    },
    async aggregates(tag, from, to, windows) {
      const aggregates = ['COUNT', 'MIN', 'MAX', 'AVG']
      const details = { from, to, count: windows, aggregates }
      const results = await multi(label([tag], () => ({ type: 'MULTIPLE_AGGREGATED_POINTS', details })))
      return results[tag]!.aggregates!.reduce((sum, { count }) => sum + count, 0)
    },
    close: async () => http.close(),
  }
}

function lengthOf({ dataPoints }: Answer['results'][string]): number {
  return Array.isArray(dataPoints) ? dataPoints.length : dataPoints!.values.length
}
