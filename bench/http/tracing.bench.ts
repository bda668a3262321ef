import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, type Measurement, measure, quantile } from '../measure.ts'
import { processorMs, type Service, startService } from '../service.ts'

/**
 * What spans cost a call: services without tracing, with a tenth of the calls recorded and with all of them, in turn,
 * the collector in the process of the client. The notes have the service's processor time for a call.
 */
const START_MS = Date.UTC(2026, 0, 1)
const TAGS = 100
const WARM_UPS = 3_000
const ROUNDS = 7
const CALLS = 1_000

const current = (tags: number) =>
  JSON.stringify({
    requests: Object.fromEntries(
      Array.from({ length: tags }, (_, tag) => [
        `c${tag}`,
        { type: 'CURRENT_POINT', tag: `local/T${tag}`, details: {} },
      ]),
    ),
  })
const WORKLOADS = { '1-tag': current(1), '100-tags': current(TAGS) }

interface Variant {
  readonly name: string
  readonly service: Service
  /** Processor time of a call, of each round, in microseconds. */
  readonly callUs: number[]
}

const received = { spans: 0 }
const collector = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  received.spans += Buffer.concat(chunks).toString().split('"spanId"').length - 1
  response.end('{}')
}).listen(0, '127.0.0.1')
await once(collector, 'listening')
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

const ratios = { untraced: null, 'a-tenth-traced': '0.1', 'all-traced': '1' }
const variants: Variant[] = []
const results: Measurement[] = []
try {
  for (const [name, ratio] of Object.entries(ratios)) {
    const environment: Record<string, string> =
      ratio === null ? {} : { TIDEMARK_TRACING_ENDPOINT: endpoint, TIDEMARK_TRACING_SAMPLE_RATIO: ratio }
    variants.push({ name, service: await startService(environment), callUs: [] })
  }
  for (const { service } of variants) await load(service)
  for (const [workload, body] of Object.entries(WORKLOADS)) await compare(workload, body)
  expect(received.spans > WARM_UPS, 'the collector received spans')
} finally {
  for (const { service } of variants) await service.stop()
  collector.closeAllConnections()
  collector.close()
}
process.stdout.write(JSON.stringify(results))

async function load({ post }: Service): Promise<void> {
  const point = [{ timestamp: START_MS, value: 1 }]
  const points = Object.fromEntries(Array.from({ length: TAGS }, (_, tag) => [`local/T${tag}`, point]))
  await post('/historian/write/points', JSON.stringify({ points, createTags: true }))
}

async function compare(workload: string, body: string): Promise<void> {
  const medians = new Map<string, Measurement[]>()
  for (const variant of variants) variant.callUs.length = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, service, callUs } of variants) {
      const call = () => service.post('/historian/multi', body)
      for (let warmUp = 0; round === 0 && warmUp < WARM_UPS; warmUp++) await call()
      const before = processorMs(service.pid)
      const measured = await measure(`http/tracing/${workload}/${name}`, call, { warmUps: 0, runs: CALLS })
      callUs.push(((processorMs(service.pid) - before) * 1_000) / CALLS)
      medians.set(name, [...(medians.get(name) ?? []), measured])
    }
  }
  const usOf = ({ callUs }: Variant) =>
    quantile(
      [...callUs].sort((a, b) => a - b),
      0.5,
    )
  const base = usOf(variants[0]!)
  for (const variant of variants) {
    const rounds = medians.get(variant.name)!.sort((a, b) => a.medianMs - b.medianMs)
    const us = usOf(variant)
    const note = `${us.toFixed(0)} us of processor a call, ${(us / base).toFixed(2)} x untraced; median of ${ROUNDS} rounds`
    results.push({ ...rounds[ROUNDS >> 1]!, note })
  }
}
