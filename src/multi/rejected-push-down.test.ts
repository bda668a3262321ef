import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf } from '../../test/multi-harness.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { AggregateQuery, CallContext, Capabilities, RangeQuery } from '../historian/contract.ts'
import type { AggregateColumns } from '../series/aggregate-names.ts'
import type { RangeResult } from '../series/reads.ts'

/** Computes AVG itself, and fails at it while the points of what is read beside it are on their way. */
class FailingHistorian extends MemoryHistorian {
  override readonly capabilities: Capabilities
  readonly #fail: (context: CallContext) => Promise<never>
  pages = 0

  constructor(fail: (context: CallContext) => Promise<never>) {
    super('plant')
    this.capabilities = { ...new MemoryHistorian('any').capabilities, aggregates: ['avg'] }
    this.#fail = fail
  }

  readAggregates(
    _queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#fail(context)
  }

  override async readRanges(
    queries: readonly RangeQuery[],
    context: CallContext,
  ): Promise<readonly RangeResult[]> {
    this.pages++
    // Longer than the push-down takes to fail, and, as a driver may, heedless of the signal.
    await delay(50)
    return super.readRanges(queries, { ...context, signal: new AbortController().signal })
  }
}

async function ask(historian: FailingHistorian, options: { deadlineSeconds?: number; signal?: AbortSignal }) {
  const filled = await historianOf('plant', { FLOW: { points: [['10:00', 1]] } })
  historian.findTags = (names, context) => filled.findTags(names, context)
  const { signal, deadlineSeconds = 30 } = options
  const details = { from: '2026-01-15T00:00Z', to: '2026-01-15T12:00Z' }
  const tag = 'calc/ADD(plant/FLOW, WINDOWAGG(plant/FLOW, AVG, 1h))'
  return askBody(
    [historian],
    { requests: { a: { type: 'AGGREGATED_POINTS', tag, details } } },
    { limits: { deadlineSeconds }, ...(signal === undefined ? {} : { signal }) },
  )
}

/** Rejects, as the drivers do, once the call is over. */
async function untilAborted({ signal }: CallContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

// A rejection that nobody handles fails these tests by itself: the runner reports it for the test in which it happens.
const settled = () => delay(120)

test('a server that goes away while points are streamed fails its label', async () => {
  const gone = new TidemarkError('HISTORIAN_UNAVAILABLE', {
    historian: 'plant',
    reason: 'connection refused',
  })
  const { json } = await ask(new FailingHistorian(async () => Promise.reject(gone)), {})
  assert.match(json.errors.a, /plant/)
  await settled()
})

test('a deadline that passes while points are streamed ends the call', async () => {
  const { answer } = await ask(new FailingHistorian(untilAborted), { deadlineSeconds: 0.02 })
  assert.equal(answer.outcome, 'deadline')
  await settled()
})

test('a client that hangs up while points are streamed ends the call', async () => {
  const client = new AbortController()
  setTimeout(() => client.abort(), 20)
  await assert.rejects(ask(new FailingHistorian(untilAborted), { signal: client.signal }), {
    code: 'CANCELLED',
  })
  await settled()
})
