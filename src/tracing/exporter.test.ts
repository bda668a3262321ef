import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '../../test/until.ts'
import { SpanExporter } from './exporter.ts'
import type { EndedSpan } from './span.ts'

const SPAN: EndedSpan = {
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentId: null,
  name: 'a',
  kind: 'server',
  startMs: 1,
  endMs: 2,
  attributes: {},
  failed: false,
}

/** An exporter to a collector that answers so. */
async function setUp(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const logged: [string, object][] = []
  const exporter = new SpanExporter({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    headers: {},
    resource: {},
    version: '0',
    log: {
      warn: (fields, message) => void logged.push([message, fields]),
      info: (fields, message) => void logged.push([message, fields]),
    },
  })
  const add = (count: number) => {
    for (let i = 0; i < count; i++) exporter.add(SPAN)
  }
  const close = async () => {
    await exporter.close()
    server.closeAllConnections()
    server.close()
  }
  return { exporter, logged, add, close }
}

test('spans that a slow collector leaves waiting are bounded, and a stop does not wait for it', async () => {
  const { exporter, add, close } = await setUp(() => {})
  // 512 are on their way, 4,096 wait.
  add(5_000)
  assert.deepEqual(exporter.counts, { exported: 0, dropped: 5_000 - 512 - 4_096 })
  await close()
})

test('spans that are refused are dropped, wholly or as many as the collector says, and the log says it once', async () => {
  let answers = 0
  const { exporter, logged, add, close } = await setUp(async (request, response) => {
    await text(request)
    answers++
    if (answers < 3) response.writeHead(503).end('full')
    else response.writeHead(200).end(answers === 3 ? '{"partialSuccess":{"rejectedSpans":"12"}}' : '{}')
  })
  for (const counts of [
    { exported: 0, dropped: 512 },
    { exported: 0, dropped: 1_024 },
    { exported: 500, dropped: 1_036 },
    { exported: 1_012, dropped: 1_036 },
  ]) {
    add(512)
    await until(
      () => exporter.counts.exported + exporter.counts.dropped === counts.exported + counts.dropped,
      'sent',
    )
    assert.deepEqual(exporter.counts, counts)
  }
  assert.deepEqual(logged, [
    ['spans cannot be exported', { reason: 'the collector answered with HTTP status 503' }],
    ['spans are exported again', {}],
  ])
  await close()
})

test('a stop sends what waits', async () => {
  const bodies: string[] = []
  const { add, close } = await setUp(async (request, response) => {
    bodies.push(await text(request))
    response.end()
  })
  add(3)
  await close()
  assert.equal(bodies.length, 1)
  assert.equal(bodies[0]!.match(/"traceId"/g)!.length, 3)
})

test('spans that end while others are on their way fill the next export', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const sizes: number[] = []
  let addMeanwhile = () => {}
  const { exporter, add, close } = await setUp(async (request, response) => {
    sizes.push((await text(request)).match(/"traceId"/g)!.length)
    addMeanwhile()
    response.end()
  })
  addMeanwhile = () => {
    addMeanwhile = () => {}
    add(10)
  }
  add(512)
  await until(() => exporter.counts.exported >= 512, 'the first are sent')
  add(502)
  await until(() => exporter.counts.exported === 1_024, 'all are sent')
  assert.deepEqual(sizes, [512, 512])
  add(3)
  context.mock.timers.tick(1_000)
  await until(() => exporter.counts.exported === 1_027, 'what waits is sent once a second')
  await close()
})
