import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type RunningService, serve, temporaryFolder } from '../cli/run.ts'

/** Rounds of kill and restart of the whole service; more with SERVICE_KILL_ROUNDS=n. */
const ROUNDS = Number(process.env.SERVICE_KILL_ROUNDS ?? 10)
const WRITERS = 4
const TAGS = 5
const START_MS = Date.UTC(2026, 0, 1)

const tagOf = (writer: number, index: number) => `local/W${writer}.T${index}`
const markOf = (writer: number) => `local/W${writer}.MARK`

/** Request number n of a writer: the n-th second of each of its tags, and its mark overwritten with n. */
function requestOf(writer: number, sequence: number): object {
  const point = { timestamp: START_MS + sequence * 1000, value: sequence }
  const tags = Array.from({ length: TAGS }, (_, index) => [tagOf(writer, index), [point]])
  const mark = [markOf(writer), [{ timestamp: START_MS, value: sequence }]]
  return { createTags: true, points: Object.fromEntries([...tags, mark]) }
}

/**
 * Writes one request after the other until the service is gone; answers the last one acknowledged.
 * @param told called at each acknowledgement
 */
async function writeOn(
  service: RunningService,
  key: string,
  writer: number,
  after: number,
  told: () => void,
): Promise<number> {
  let acknowledged = after
  for (;;) {
    try {
      const { status, body } = await service.post(
        '/historian/write/points',
        requestOf(writer, acknowledged + 1),
        key,
      )
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.message, 'All points written!')
      acknowledged++
      told()
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return acknowledged
    }
  }
}

/** The last request that is there, whole in all its tags and with all before it; 0 when there is none. */
async function lastWritten(service: RunningService, key: string, writer: number): Promise<number> {
  const details = { from: START_MS, to: START_MS + 86_400_000, maxPoints: 15_000 }
  const raw = Array.from({ length: TAGS }, (_, index) => [
    `t${index}`,
    { type: 'RAW_POINTS', tag: tagOf(writer, index), details },
  ])
  const mark = ['mark', { type: 'POINT_BEFORE_OR_AT', tag: markOf(writer), details: { at: START_MS } }]
  const { status, body } = await service.post(
    '/historian/multi',
    { format: 'columns', requests: Object.fromEntries([...raw, mark]) },
    key,
  )
  assert.equal(status, 200, JSON.stringify(body))
  const missing = Object.values(body.errors as object).filter((sentence) => /does not exist$/.test(sentence))
  // The very first request made the tags: before it there is none of them.
  if (missing.length === TAGS + 1) return 0
  assert.deepEqual(body.errors, {})
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
  const results = body.results as any
  const last = results.mark.dataPoint.value
  const expected = Array.from({ length: last }, (_, n) => n + 1)
  for (let index = 0; index < TAGS; index++) {
    assert.deepEqual(
      results[`t${index}`].dataPoints.values,
      expected,
      `${tagOf(writer, index)} up to ${last}`,
    )
  }
  return last
}

test('a service killed amid concurrent writes has every acknowledged request and none in part', async (t) => {
  const cwd = await temporaryFolder()
  let key = ''
  let acknowledged: readonly number[] = Array(WRITERS).fill(0)
  for (let round = 0; round < ROUNDS; round++) {
    const service = await serve([], { cwd, env: { TIDEMARK_LOG_LEVEL: 'error' } })
    key ||= service.writeKey
    if (round > 0) {
      const found = await Promise.all(acknowledged.map((_, writer) => lastWritten(service, key, writer)))
      acknowledged.forEach((count, writer) => {
        assert.ok(found[writer]! >= count, `writer ${writer}: ${found[writer]} of ${count} acknowledged`)
        // Four writers wait for their answers: at most one request each was on its way.
        assert.ok(found[writer]! <= count + 1)
      })
      acknowledged = found
    }
    const enough = Promise.withResolvers<void>()
    // Some more than the round needs, so that all writers get somewhere however slow the machine is.
    let left = 2 * WRITERS + Math.floor(Math.random() * 20 * WRITERS)
    const told = () => {
      if (--left === 0) enough.resolve()
    }
    const writing = Promise.all(
      acknowledged.map((after, writer) => writeOn(service, key, writer, after, told)),
    )
    await Promise.race([enough.promise, writing])
    await setTimeout(Math.random() * 10)
    await service.kill()
    acknowledged = await writing
  }
  assert.ok(
    acknowledged.every((count) => count > ROUNDS),
    'the writers got somewhere',
  )
  t.diagnostic(`${ROUNDS} kills, ${acknowledged.join(' + ')} requests acknowledged`)
})
