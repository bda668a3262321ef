import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exportRequest, rejectedSpans } from './otlp.ts'
import { type EndedSpan, presentTraceparent, traced, withinTrace } from './span.ts'
import { isSampled, readTraceparent, spanIdOf, traceIdOf } from './traceparent.ts'
import { Tracer } from './tracer.ts'

const GOOD = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const UNSAMPLED = GOOD.replace(/01$/, '00')

test('a traceparent is taken, and anything else is passed over', () => {
  for (const good of [GOOD, `01${GOOD.slice(2)}`, `cc${GOOD.slice(2)}-what-comes-later`]) {
    assert.equal(readTraceparent(good), good)
  }
  for (const bad of [
    undefined,
    '',
    `ff${GOOD.slice(2)}`,
    `${GOOD}-more`,
    GOOD.toUpperCase(),
    GOOD.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    GOOD.replace('00f067aa0ba902b7', '0'.repeat(16)),
    `${GOOD},${GOOD}`,
    `cc${GOOD.slice(2)}-${'x'.repeat(300)}`,
    [GOOD],
  ]) {
    assert.equal(readTraceparent(bad), null)
  }
  assert.equal(traceIdOf(GOOD), '4bf92f3577b34da6a3ce929d0e0e4736')
  assert.equal(spanIdOf(GOOD), '00f067aa0ba902b7')
  assert.deepEqual([GOOD, UNSAMPLED, GOOD.replace(/01$/, 'ff')].map(isSampled), [true, false, true])
})

test('work knows its trace, and work beside it does not', async () => {
  const seen = await withinTrace({ traceparent: GOOD, span: null }, async () => {
    await new Promise(setImmediate)
    return presentTraceparent()
  })
  assert.equal(seen, GOOD)
  assert.equal(presentTraceparent(), null)
  assert.equal(withinTrace(null, presentTraceparent), null)
})

function setUp(sampleRatio = 1) {
  const ended: EndedSpan[] = []
  const tracer = new Tracer(
    sampleRatio,
    (span) => ended.push(span),
    () => 0.5,
  )
  return { ended, begin: (incoming: string | null) => tracer.begin(incoming, 'GET /x', { a: 1 }) }
}

describe('which calls are recorded', () => {
  test('its caller decides of a call that brings a trace, whatever the ratio is', () => {
    const none = setUp(0)
    assert.deepEqual(none.begin(UNSAMPLED), { traceparent: UNSAMPLED, span: null })
    assert.equal(setUp(1).begin(UNSAMPLED).span, null)
    const { traceparent, span } = none.begin(GOOD)
    span!.end()
    assert.equal(traceIdOf(traceparent), traceIdOf(GOOD))
    assert.equal(spanIdOf(traceparent), span!.spanId)
    assert.equal(none.ended[0]!.parentId, '00f067aa0ba902b7')
  })

  test('of others it is a share, and the rest tells those that are called not to record either', () => {
    const { begin, ended } = setUp(0.51)
    begin(null).span!.end()
    assert.equal(ended[0]!.parentId, null)
    const left = setUp(0.5).begin(null)
    assert.equal(left.span, null)
    assert.equal(readTraceparent(left.traceparent), left.traceparent)
    assert.equal(isSampled(left.traceparent), false)
  })
})

describe('spans within a call', () => {
  test('have the one around them as parent, at once and later, and calls that they make name them', async () => {
    const { begin, ended } = setUp()
    const trace = begin(null)
    await withinTrace(trace, () =>
      traced('outer', 'internal', {}, async (outer) => {
        await new Promise(setImmediate)
        assert.equal(presentTraceparent(), outer!.traceparent)
        traced('inner', 'client', { n: 2 }, (inner) => inner!.set('m', 3))
      }),
    )
    trace.span!.end()
    const [inner, outer, root] = ended
    assert.deepEqual(
      ended.map(({ name, kind }) => [name, kind]),
      [
        ['inner', 'client'],
        ['outer', 'internal'],
        ['GET /x', 'server'],
      ],
    )
    assert.deepEqual([inner!.parentId, outer!.parentId], [outer!.spanId, root!.spanId])
    assert.deepEqual(inner!.attributes, { n: 2, m: 3 })
    assert.equal(new Set(ended.map(({ traceId }) => traceId)).size, 1)
    for (const { startMs, endMs } of ended) assert.ok(startMs <= endMs && startMs >= root!.startMs)
  })

  test('that fail say the code and not the message, and the error goes on', async () => {
    const { begin, ended } = setUp()
    const error = Object.assign(new Error('of plant/SECRET'), { code: 'HISTORIAN_UNAVAILABLE' })
    const fail = (work: () => unknown) => withinTrace(begin(null), () => traced('a', 'internal', {}, work))
    assert.throws(() => fail(() => assert.fail(error)), error)
    await assert.rejects(async () => fail(() => Promise.reject(error)), error)
    assert.deepEqual(
      ended.map(({ failed, attributes }) => [failed, attributes]),
      Array(2).fill([true, { 'error.type': 'HISTORIAN_UNAVAILABLE' }]),
    )
  })

  test('are bounded in number, and the work is done all the same', () => {
    const { begin, ended } = setUp()
    let done = 0
    withinTrace(begin(null), () => {
      for (let i = 0; i < 2_000; i++) traced('a', 'internal', {}, () => done++)
    })
    assert.deepEqual([done, ended.length], [2_000, 999])
  })

  test('are none outside of a recorded call', () => {
    traced('a', 'internal', {}, (span) => assert.equal(span, null))
    withinTrace({ traceparent: GOOD, span: null }, () =>
      traced('a', 'internal', {}, (span) => {
        assert.equal(span, null)
        assert.equal(presentTraceparent(), GOOD)
      }),
    )
  })
})

test('an export is what OTLP/HTTP has in JSON', () => {
  const span: EndedSpan = {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    parentId: null,
    name: 'GET /x',
    kind: 'server',
    startMs: 1_768_478_400_000.25,
    endMs: 1_768_478_400_001.5,
    attributes: { text: 'a"b', whole: 200, part: 0.5, is: true },
    failed: true,
  }
  const request = JSON.parse(
    exportRequest([span, { ...span, parentId: 'f'.repeat(16) }], { r: 's' }, '1.2.3'),
  )
  const [{ resource, scopeSpans }] = request.resourceSpans
  assert.deepEqual(resource, { attributes: [{ key: 'r', value: { stringValue: 's' } }] })
  assert.deepEqual(scopeSpans[0].scope, { name: 'tidemark', version: '1.2.3' })
  assert.equal(scopeSpans[0].spans[1].parentSpanId, 'f'.repeat(16))
  assert.deepEqual(scopeSpans[0].spans[0], {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    name: 'GET /x',
    kind: 2,
    startTimeUnixNano: '1768478400000250000',
    endTimeUnixNano: '1768478400001500000',
    attributes: [
      { key: 'text', value: { stringValue: 'a"b' } },
      { key: 'whole', value: { intValue: '200' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'is', value: { boolValue: true } },
    ],
    status: { code: 2 },
  })
  assert.equal(rejectedSpans('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"full"}}'), 3)
  for (const answer of ['{}', '', 'fine', '{"partialSuccess":{"rejectedSpans":-1}}', 'null'])
    assert.equal(rejectedSpans(answer), 0, answer)
})
