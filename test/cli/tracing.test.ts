import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { until } from '../until.ts'
import { type RunningService, serve, temporaryFolder } from './run.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const START = 1_767_225_600_000

interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
  readonly attributes: Readonly<Record<string, string | undefined>>
  /** Of the process. */
  readonly resource: Readonly<Record<string, string | undefined>>
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, string>>
}

const attributesOf = (list: readonly KeyValue[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])]))

/** A collector of OTLP/HTTP: a server that keeps what it is sent. */
async function startCollector(port = 0) {
  const spans: ReceivedSpan[] = []
  const received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] =
    []
  const server: Server = createServer(async (incoming, response) => {
    const body = await text(incoming)
    received.push({ path: incoming.url!, headers: incoming.headers, body })
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      for (const scope of scopeSpans) {
        for (const span of scope.spans) {
          const attributes = attributesOf(span.attributes)
          spans.push({ ...span, attributes, resource: attributesOf(resource.attributes) })
        }
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  after(close)
  return { port: (server.address() as AddressInfo).port, spans, received, close }
}

type Collector = Awaited<ReturnType<typeof startCollector>>

const tracing = ({ port }: Collector, more: string) =>
  `tracing: {endpoint: "http://127.0.0.1:${port}", headers: {X-Tenant: "\${TENANT}"}, ${more}}\n`

/** One call on a connection of its own, which the service gives to the worker whose turn it is. */
function multi(service: RunningService, key: string | null, tag: string, traceparent?: string) {
  const headers = {
    'Content-Type': 'application/json',
    ...(key !== null && { 'X-Api-Key': key }),
    ...(traceparent !== undefined && { traceparent }),
  }
  const details = { from: START, to: START + 100_000, maxPoints: 5 }
  const body = JSON.stringify({ requests: { a: { type: 'RAW_POINTS', tag, details } } })
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { method: 'POST', agent: new Agent({ keepAlive: false }), headers }
    const sent = request(`${service.url}/historian/multi?hidden=query`, options, (answer) => {
      text(answer).then((answered) => resolve({ status: answer.statusCode!, body: answered }), reject)
    })
    sent.on('error', reject).end(body)
  })
}

async function seed(service: RunningService, tag: string) {
  const points = [1, 2, 3].map((value) => ({ timestamp: START + value * 10_000, value }))
  const written = await service.post('/historian/write/points', {
    createTags: true,
    points: { [tag]: points },
  })
  assert.equal(written.status, 200)
}

describe('spans', async () => {
  const env = { TENANT: 'tenant-secret' }

  it('of a call reach the collector as one trace, through a connected instance, and hold no names or secrets', async () => {
    const collector = await startCollector()
    const [cwd, hqCwd] = [await temporaryFolder(), await temporaryFolder()]
    writeFileSync(join(hqCwd, 'tidemark.yaml'), tracing(collector, 'serviceName: hq, sampleRatio: 0'))
    const hq = await serve([], { cwd: hqCwd, env })
    await seed(hq, 'local/HIDDEN_B')
    const peer = `{type: tidemark, url: "${hq.url}", historian: local, key: {env: HQ_KEY}}`
    writeFileSync(
      join(cwd, 'tidemark.yaml'),
      `${tracing(collector, 'sampleRatio: 0')}historians: {local: {type: embedded}, site: ${peer}}\n`,
    )
    const service = await serve([], { cwd, env: { ...env, HQ_KEY: hq.readKey } })
    await seed(service, 'local/HIDDEN_A')
    const tag = 'calc/ADD(local/HIDDEN_A, site/HIDDEN_B)'
    for (const flags of ['00', '01']) {
      const { status, body } = await multi(service, service.readKey, tag, `00-${TRACE}-${CALLER}-${flags}`)
      assert.deepEqual([status, JSON.parse(body).errors], [200, {}])
    }
    assert.equal((await multi(service, service.readKey, tag)).status, 200)
    // Stopping exports what waits.
    assert.deepEqual([await service.stop(), await hq.stop()], [0, 0])

    const { spans, received } = collector
    for (const { traceId } of spans)
      assert.equal(traceId, TRACE, 'only the call that is recorded by its caller')
    const of = (test: (span: ReceivedSpan) => boolean) => spans.filter(test)
    const roots = of(({ parentSpanId }) => parentSpanId === CALLER)
    assert.equal(roots.length, 1)
    const root = roots[0]!
    assert.equal(root.name, 'POST /historian/multi')
    assert.equal(root.kind, 2)
    assert.deepEqual(root.attributes, {
      'http.request.method': 'POST',
      'http.route': '/historian/multi',
      'http.response.status_code': '200',
      'url.scheme': 'http',
    })
    assert.equal(root.resource['service.name'], 'tidemark')
    const children = of(({ parentSpanId }) => parentSpanId === root.spanId).map(({ name }) => name)
    assert.deepEqual(children, ['multi plan', 'multi evaluate'])

    const evaluate = of(
      ({ name, resource }) => name === 'multi evaluate' && resource['service.name'] === 'tidemark',
    )
    const reads = of(({ parentSpanId, kind }) => parentSpanId === evaluate[0]!.spanId && kind === 1)
    const readsOf = (historian: string) =>
      reads.filter(({ attributes }) => attributes['tidemark.historian'] === historian)
    assert.ok(readsOf('local').length > 0 && readsOf('site').length > 0)
    for (const { attributes } of readsOf('site'))
      assert.equal(attributes['tidemark.historian.type'], 'tidemark')
    const points = readsOf('local').map(({ attributes }) => Number(attributes['tidemark.points'] ?? 0))
    assert.ok(points.some((count) => count > 0))

    // The other instance's spans are below the requests that it was sent.
    const requests = of(({ kind, resource }) => kind === 3 && resource['service.name'] === 'tidemark')
    const remote = of(({ kind, resource }) => kind === 2 && resource['service.name'] === 'hq')
    assert.ok(remote.length > 0)
    for (const { parentSpanId } of remote)
      assert.ok(
        requests.some(({ spanId }) => spanId === parentSpanId),
        'a request of this instance',
      )
    for (const { parentSpanId, attributes } of requests) {
      assert.equal(attributes['http.response.status_code'], '200')
      assert.ok(spans.some(({ spanId, kind }) => spanId === parentSpanId && kind === 1))
    }
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      assert.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano))

    for (const { path, headers, body } of received) {
      assert.equal(path, '/v1/traces')
      assert.equal(headers['x-tenant'], 'tenant-secret')
      assert.equal(headers.traceparent, undefined)
      assert.doesNotMatch(body, /HIDDEN|hidden|tdm_|tenant-secret/)
    }
    assert.doesNotMatch(service.stderr() + service.stdout(), /tenant-secret/)
  })

  it('are of calls with a valid key alone, also where others bring a trace that is recorded', async () => {
    const collector = await startCollector()
    const cwd = await temporaryFolder()
    writeFileSync(join(cwd, 'tidemark.yaml'), tracing(collector, 'sampleRatio: 1'))
    const service = await serve([], { cwd, env })
    const wrongKey = `${service.readKey.slice(0, -4)}0000`
    for (const key of [null, 'no-key', wrongKey]) {
      for (const traceparent of [undefined, `00-${TRACE}-${CALLER}-01`])
        assert.equal((await multi(service, key, 'local/A', traceparent)).status, 401)
    }
    const written = await service.post('/historian/write/points', { points: {} }, service.readKey)
    assert.equal(written.status, 403)
    assert.equal(await service.stop(), 0)
    assert.deepEqual(
      collector.spans.map(({ name, attributes }) => [name, attributes['http.response.status_code']]),
      [['POST /historian/write/points', '403']],
    )
    const refused = service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"status":401'))
    assert.equal(refused.length, 6)
    assert.equal(refused.filter((line) => line.includes(`"traceId":"${TRACE}"`)).length, 3)
    assert.equal(refused.filter((line) => line.includes('"traceId"')).length, 3)
  })

  it('come from every worker, and a collector that is gone costs spans and no calls', async () => {
    const collector = await startCollector()
    const cwd = await temporaryFolder()
    writeFileSync(join(cwd, 'tidemark.yaml'), tracing(collector, 'sampleRatio: 1'))
    const service = await serve(['--workers', '2'], { cwd, env })
    await seed(service, 'local/A')
    const answered = async () => assert.equal((await multi(service, service.writeKey, 'local/A')).status, 200)
    for (let i = 0; i < 6; i++) await answered()
    const pids = () => new Set(collector.spans.map(({ resource }) => resource['process.pid']))
    await until(() => pids().size === 2, 'both workers have exported')
    const servers = () => collector.spans.filter(({ kind }) => kind === 2)
    await until(() => servers().length === 7, 'the write and six reads')
    for (const span of servers()) assert.equal(span.parentSpanId, undefined)
    assert.equal(new Set(servers().map(({ traceId }) => traceId)).size, 7)
    const traceIds = servers().map(({ traceId }) => traceId)
    for (const id of traceIds)
      assert.ok(service.stderr().includes(id), 'the log line of the call has its trace')

    const countOf = async (outcome: string) => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      return Number(
        new RegExp(`^tidemark_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
      )
    }
    await until(async () => (await countOf('exported')) === collector.spans.length, 'all are counted')
    assert.equal(await countOf('dropped'), 0)
    collector.close()
    await until(async () => {
      await answered()
      return (await countOf('dropped')) > 0
    }, 'spans are dropped and counted')
    assert.match(service.stderr(), /"reason":"ECONNREFUSED","msg":"spans cannot be exported"/)

    const again = await startCollector(collector.port)
    await until(async () => {
      await answered()
      return again.spans.length > 0
    }, 'a collector that is back is used again')
    assert.equal(await service.stop(), 0)
  })
})
