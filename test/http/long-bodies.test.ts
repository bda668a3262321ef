import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { jsonHeaders, post, testService } from './service.ts'

const START = 1_768_000_000_000
const POINTS = 4_000
const CLIENTS = 6
const ROUNDS = 8

const { app, listen } = testService()
const port = await listen()

/** Points of a tag of its own; all of them say whose they are. */
function bodyOf(client: number, round: number): Buffer {
  const points = Array.from(
    { length: POINTS + client * 100 },
    (_, at) => `{"timestamp":${START + at},"value":${client * 1_000 + round}}`,
  ).join(',')
  // Every third body is not a plain one, and is parsed the long way.
  const more = client % 3 === 2 ? ',"now":null' : ''
  return Buffer.from(`{"createTags":true,"points":{"local/C${client}R${round}":[${points}]}${more}}`)
}

/**
 * Sends a body in pieces that come between those of others. @param part how much of it is sent before the client goes
 * away
 */
async function send(body: Buffer, part = 1): Promise<number | null> {
  const sent = request({
    port,
    path: '/historian/write/points',
    method: 'POST',
    headers: { ...jsonHeaders(), 'content-length': body.length },
  })
  const answered = once(sent, 'response').catch(() => null)
  for (let at = 0; at < body.length * part; at += 50_000) {
    sent.write(body.subarray(at, at + 50_000))
    await turn()
  }
  if (part < 1) {
    sent.destroy()
    return null
  }
  sent.end()
  const [answer] = (await answered)!
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}

test('long bodies that come at once, after each other and cut off do not get into each other', async () => {
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let round = 0; round < ROUNDS; round++) {
      const body = bodyOf(client, round)
      if ((client + round) % 4 === 3) await send(bodyOf(client, round + 500), 0.6)
      assert.equal(await send(body), 200)
    }
  })
  await Promise.all(clients)
  for (let client = 0; client < CLIENTS; client++) {
    for (let round = 0; round < ROUNDS; round++) {
      const tag = `local/C${client}R${round}`
      const details = { from: START, to: START + 10_000, maxPoints: 10_000 }
      const requests = { all: { type: 'RAW_POINTS', tag, details } }
      const { body } = await post(app, '/historian/multi', { requests })
      assert.deepEqual(body.errors, {})
      const { dataPoints } = body.results.all
      const values = new Set(dataPoints.map(({ value }: { value: number }) => value))
      assert.equal(dataPoints.length, POINTS + client * 100)
      assert.deepEqual([...values], [client * 1_000 + round])
    }
  }
})
