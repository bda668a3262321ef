import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDue } from '../../test/always-due.ts'
import { historianOf, LIMITS, NOON } from '../../test/multi-harness.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { UTC } from '../time/zone.ts'
import { MOST_STARTED } from './execute.ts'
import { runMulti } from './run.ts'

const LABELS = 5_000
const limits = { ...LIMITS, effectiveTags: LABELS }

/** The answer of very many labels by the path that the call takes, which is to be that of the slow one. */
async function answerOf(requests: Readonly<Record<string, unknown>>, rest: object = {}) {
  const tags = Object.fromEntries(
    Array.from({ length: LABELS }, (_, i) => [
      `T${i}`,
      { points: i % 7 === 0 ? [] : [['10:00', i] as const] },
    ]),
  )
  const plant = await historianOf('plant', tags)
  const lab = await historianOf('lab', { FLOW: { points: [['11:00', 1, 'BAD']] } })
  const call = {
    ...{ historians: new HistorianRegistry([plant, lab]), defaultZone: UTC, defaultHistorian: null },
    ...{ limits: { ...limits, ...rest }, now: NOON, signal: new AbortController().signal },
  }
  const answers = []
  const calls: number[] = []
  for (const [isPrompt, slowPathOnly] of [
    [true, false],
    [false, false],
    [false, true],
  ] as const) {
    plant.isPrompt = isPrompt
    const answer = await runMulti({ requests }, call, { slowPathOnly })
    const text = Buffer.concat([...answer.chunks()]).toString()
    const { points, historianCalls } = answer.statistics
    answers.push({ text, outcome: answer.outcome, points })
    calls.push(historianCalls)
  }
  assert.deepEqual(answers[0], answers[2])
  assert.deepEqual(answers[1], answers[2])
  return { ...answers[0]!, historianCalls: calls[0]! }
}

const current = (tag: string) => ({ type: 'CURRENT_POINT', tag })
const requestsOf = (tagOf: (i: number) => string, count = LABELS) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, current(tagOf(i))]))

test('single points of very many tags are read in slices, and answered as others are', async (t) => {
  const rests = alwaysDue(t)
  const tagOf = (i: number) => (i === 4_321 ? 'lab/FLOW' : `plant/T${i}`)
  const { text, points, historianCalls } = await answerOf(requestsOf(tagOf))
  assert.equal(points, LABELS)
  assert.equal(historianCalls, Math.ceil(LABELS / MOST_STARTED) + 1)
  assert.ok(rests() >= LABELS / MOST_STARTED)
  const { results } = JSON.parse(text)
  assert.equal(results[4_999].dataPoint.value, 4_999)
  assert.deepEqual(results[4_321].dataPoint, {
    timestamp: '2026-01-15T11:00:00.000Z',
    value: 1,
    status: 'BAD',
  })
  assert.equal(results[7].dataPoint.value, null)
})

test('a tag that comes twice, far from each other, is read once', async (t) => {
  alwaysDue(t)
  const { points } = await answerOf(requestsOf((i) => `plant/T${i === 4_900 ? 3 : i}`))
  assert.equal(points, LABELS - 1)
})

test('among very many labels those that are invalid, or name no tag, have their errors, and the rest is read', async (t) => {
  alwaysDue(t)
  // A whole step of tags that do not exist, and one alone.
  const isMissing = (i: number) => (i >= 1_024 && i < 2_048) || i === 4_900
  const requests: Record<string, unknown> = requestsOf((i) => `plant/${isMissing(i) ? `NOPE ${i}` : `T${i}`}`)
  requests['17'] = { type: 'NOPE', tag: 'plant/T17' }
  const { text, points, historianCalls } = await answerOf(requests)
  const { errors, results } = JSON.parse(text)
  assert.equal(Object.keys(errors).length, 1_024 + 2)
  assert.equal(Object.keys(results).length, LABELS - 1_026)
  assert.equal(points, LABELS - 1_026)
  assert.equal(historianCalls, Math.ceil(LABELS / MOST_STARTED) - 2)
})

test('tags of a historian that does not exist are errors of their labels', async (t) => {
  alwaysDue(t)
  const { text } = await answerOf(requestsOf((i) => `${i === 4_900 ? 'nowhere' : 'plant'}/T${i}`))
  assert.deepEqual(Object.keys(JSON.parse(text).errors), ['4900'])
})

test('very many labels beyond a limit are refused, and those of other types answered', async (t) => {
  alwaysDue(t)
  const many = requestsOf((i) => `plant/T${i}`)
  assert.equal((await answerOf(many, { effectiveTags: LABELS - 1 })).outcome, 'limit')
  const mixed = { ...many, '17': { type: 'HISTORICAL_POINT', tag: 'plant/T18', details: { at: 'now' } } }
  const { results } = JSON.parse((await answerOf(mixed)).text)
  assert.equal(results[17].dataPoint.value, 18)
})

test('labels that fail beside a few single points have their errors on either path', async () => {
  const plant = await historianOf('plant', { A: { points: [['10:00', 1]] }, B: { points: [] } })
  plant.isPrompt = true
  const call = {
    ...{ historians: new HistorianRegistry([plant]), defaultZone: UTC, defaultHistorian: null },
    ...{ limits: LIMITS, now: NOON, signal: new AbortController().signal },
  }
  const missing = { a: current('plant/A'), missing: current('plant/AA'), b: current('plant/B') }
  const invalid = { ...missing, invalid: { type: 'POINT_BEFORE', tag: 'plant/A', details: {} } }
  for (const requests of [missing, invalid]) {
    const answers = []
    for (const slowPathOnly of [false, true]) {
      const answer = await runMulti({ requests }, call, { slowPathOnly })
      answers.push(JSON.parse(Buffer.concat([...answer.chunks()]).toString()))
    }
    assert.deepEqual(answers[0], answers[1])
    assert.deepEqual(Object.keys(answers[0].results), ['a', 'b'])
    assert.deepEqual(answers[0].issues[0].suggestions, ['plant/A'])
  }
})
