import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { type Attempt, changedNothing, makeChange, type RequestOptions } from './change.ts'
import { HttpClient } from './http-client.ts'
import { NO_METER } from './meter.ts'
import { unavailable, unreachable } from './unavailable.ts'

const historian = 'site'
const { signal } = new AbortController()
const never = new Promise<never>(() => {})
const quick = { firstPauseMs: 1, longestPauseMs: 1 }

const cut = () => unreachable(historian, Object.assign(new Error(), { code: 'ECONNRESET' }))
const closed = () => unreachable(historian, Object.assign(new Error(), { code: 'ECONNREFUSED' }))

/** Attempts as drivers report them, by what happens to each. */
const ATTEMPTS = {
  async acknowledged(attempt: Attempt) {
    attempt.sent()
  },
  async lost(attempt: Attempt) {
    attempt.sent()
    throw cut()
  },
  async refused(attempt: Attempt) {
    attempt.sent()
    attempt.refused()
    throw unavailable(historian, 'its disk is full')
  },
  async refusedForNow(attempt: Attempt) {
    attempt.sent()
    attempt.refused()
    throw closed()
  },
  async refusedInPart(attempt: Attempt) {
    attempt.sent()
    attempt.takenInPart()
    attempt.refused()
    throw unavailable(historian, 'its disk is full')
  },
  async unsent() {
    throw closed()
  },
}

type Kind = keyof typeof ATTEMPTS

/** One request whose attempts go as listed; gives how many were made and the error. */
async function requested(kinds: readonly Kind[], options: RequestOptions = {}) {
  let attempts = 0
  const change = makeChange({ historian, signal }, ({ request }) =>
    request(
      (attempt) => {
        assert.equal(attempt.number, attempts + 1)
        return ATTEMPTS[kinds[attempts++]!](attempt)
      },
      { ...quick, attempts: kinds.length, ...options },
    ),
  )
  const error = await change.then(
    () => null,
    (failure: TidemarkError) => failure,
  )
  return { attempts, error, code: error?.code ?? null }
}

describe('one request', () => {
  const REPEATABLE = { isRepeatable: true }
  const cases: readonly (readonly [readonly Kind[], RequestOptions, number, string | null])[] = [
    [['acknowledged'], {}, 1, null],
    [['refused'], {}, 1, 'HISTORIAN_UNAVAILABLE'],
    [['unsent', 'unsent'], {}, 2, 'HISTORIAN_UNAVAILABLE'],
    [['unsent', 'acknowledged'], {}, 2, null],
    [['refusedForNow', 'acknowledged'], {}, 2, null],
    [['refusedInPart'], {}, 1, 'WRITE_PARTIAL'],
    // What may have been taken is not sent again unless that does no harm.
    [['lost', 'acknowledged'], {}, 1, 'WRITE_OUTCOME_UNKNOWN'],
    [['lost', 'acknowledged'], REPEATABLE, 2, null],
    // Nor does a later attempt say what became of it, unless it succeeds.
    [['lost', 'unsent', 'unsent'], REPEATABLE, 3, 'WRITE_OUTCOME_UNKNOWN'],
    [['lost', 'refused'], REPEATABLE, 2, 'WRITE_OUTCOME_UNKNOWN'],
    [['lost', 'refusedForNow', 'refused'], REPEATABLE, 3, 'WRITE_OUTCOME_UNKNOWN'],
    [['unsent', 'lost', 'refusedForNow', 'acknowledged'], REPEATABLE, 4, null],
    [['refusedForNow', 'lost'], REPEATABLE, 2, 'WRITE_OUTCOME_UNKNOWN'],
  ]
  for (const [kinds, options, attempts, code] of cases) {
    const how = options.isRepeatable ? ' of a repeatable one' : ''
    test(`${kinds.join(', ')}${how}: ${code ?? 'made'}`, async () => {
      const outcome = await requested(kinds, options)
      assert.deepEqual([outcome.attempts, outcome.code], [attempts, code])
      assert.equal(changedNothing(outcome.error), code === 'HISTORIAN_UNAVAILABLE')
    })
  }

  test('the reason of an unknown outcome is that of the attempt that may have been taken', async () => {
    const { error } = await requested(['lost', 'unsent'], REPEATABLE)
    assert.equal(
      error!.message,
      'It is not known whether historian site took its points: the connection was cut',
    )
    assert.equal((error!.cause as TidemarkError).code, 'HISTORIAN_UNAVAILABLE')
  })
})

describe('several requests', () => {
  const both = (first: Kind, second: Kind) =>
    makeChange({ historian, signal }, async (change) => {
      await change.request(ATTEMPTS[first], { attempts: 1 })
      await change.request(ATTEMPTS[second], { attempts: 1 })
    })

  test('one that is refused after one that was made leaves a part', async () => {
    await assert.rejects(both('acknowledged', 'refused'), {
      code: 'WRITE_PARTIAL',
      message: 'Historian site took only a part of its points: its disk is full',
    })
    await assert.rejects(both('acknowledged', 'unsent'), { code: 'WRITE_PARTIAL' })
    await assert.rejects(both('refused', 'acknowledged'), (error) => changedNothing(error))
  })

  test('one that is lost makes all of it unknown, whatever became of the other', async () => {
    await assert.rejects(both('acknowledged', 'lost'), { code: 'WRITE_OUTCOME_UNKNOWN' })
    const atOnce = makeChange({ historian, signal }, (change) =>
      Promise.all([
        change.request((attempt) => {
          attempt.sent()
          return never
        }),
        change.request(ATTEMPTS.refused),
      ]),
    )
    await assert.rejects(atOnce, { code: 'WRITE_OUTCOME_UNKNOWN' })
  })

  test('work beside the requests that fails says so when nothing was made before it', async () => {
    const bug = new Error('bug')
    const failing = makeChange({ historian, signal }, () => Promise.reject(bug))
    await assert.rejects(failing, (error) => error === bug && changedNothing(error))
    const later = makeChange({ historian, signal }, async (change) => {
      await change.request(ATTEMPTS.acknowledged)
      throw bug
    })
    await assert.rejects(later, { code: 'WRITE_PARTIAL', cause: bug })
  })
})

describe('a change that ends before its answer', () => {
  const reason = new TidemarkError('WRITE_DEADLINE_EXCEEDED', { seconds: 30 })
  const unsent = () => never
  const sent = (attempt: Attempt) => {
    attempt.sent()
    return never
  }

  test('by its time limit is unknown when it was sent, and else took nothing', async () => {
    const change = (send: (attempt: Attempt) => Promise<never>) =>
      makeChange({ historian, signal, seconds: 0.01 }, ({ request }) => request(send))
    await assert.rejects(change(sent), {
      code: 'WRITE_OUTCOME_UNKNOWN',
      message: 'It is not known whether historian site took its points: no answer within 0.01 seconds',
    })
    await assert.rejects(change(unsent), (error) => {
      assert.equal((error as TidemarkError).code, 'HISTORIAN_UNAVAILABLE')
      return changedNothing(error)
    })
  })

  for (const seconds of [undefined, 60]) {
    test(`by its caller, ${seconds ?? 'no'} time limit: likewise, with the caller's reason`, async () => {
      const controller = new AbortController()
      const change = (send: (attempt: Attempt) => Promise<never>) =>
        makeChange(
          { historian, signal: controller.signal, ...(seconds !== undefined && { seconds }) },
          ({ request }) => request(send),
        )
      const checks = [
        assert.rejects(change(sent), {
          code: 'WRITE_OUTCOME_UNKNOWN',
          message:
            'It is not known whether historian site took its points: The request was not finished within 30 seconds',
          cause: reason,
        }),
        assert.rejects(change(unsent), (error) => error === reason && changedNothing(error)),
      ]
      controller.abort(reason)
      await Promise.all(checks)
      await assert.rejects(change(sent), (error) => error === reason)
    })
  }

  test('sends nothing afterwards', async () => {
    const controller = new AbortController()
    const { promise: late, resolve } = Promise.withResolvers<unknown>()
    const change = makeChange({ historian, signal: controller.signal }, ({ request }) =>
      request(async (attempt) => {
        await new Promise((go) => setImmediate(go))
        try {
          attempt.sent()
        } catch (error) {
          resolve(error)
        }
      }),
    )
    controller.abort(reason)
    await assert.rejects(change, (error) => error === reason)
    assert.equal(await late, reason)
  })
})

describe('a request over HTTP', () => {
  async function facing(handler: RequestListener, work: (client: HttpClient, port: number) => Promise<void>) {
    const server = createServer(handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = new URL(`http://127.0.0.1:${port}`)
    const client = new HttpClient({ historian, url, tls: null, meter: NO_METER, connections: 1 })
    try {
      await work(client, port)
    } finally {
      await client.close()
      server.closeAllConnections()
      server.close()
    }
  }
  const post = (client: HttpClient, seconds = 60) =>
    makeChange({ historian, signal, seconds }, ({ request }) =>
      request(async (attempt) => {
        const sent = () => attempt.sent()
        const answer = await client.send(
          { kind: 'write', method: 'POST', path: '/', body: 'x', sent },
          attempt,
        )
        await answer.discard()
      }, quick),
    )

  test('that waits for a connection until the time is up took nothing, the one before it may have', async () => {
    await facing(
      () => {},
      async (client) => {
        const first = assert.rejects(post(client, 0.2), { code: 'WRITE_OUTCOME_UNKNOWN' })
        const second = assert.rejects(post(client, 0.1), (error) => changedNothing(error))
        await Promise.all([first, second])
      },
    )
  })

  test('that is answered is made, and one that finds nobody took nothing', async () => {
    await facing(
      (_request, response) => response.end(),
      (client) => post(client),
    )
    const url = new URL('http://127.0.0.1:1')
    const client = new HttpClient({ historian, url, tls: null, meter: NO_METER })
    await assert.rejects(post(client), (error) => changedNothing(error))
    await client.close()
  })

  test('that is cut off is unknown', async () => {
    await facing(
      (request) => request.socket.destroy(),
      (client) => assert.rejects(post(client), { code: 'WRITE_OUTCOME_UNKNOWN' }),
    )
  })
})
