import assert from 'node:assert/strict'
import fc from 'fast-check'
import { assertWithinLoad } from '../../src/calc/graph/load-margin.fixture.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'
import { PushDownHistorian } from '../contract/push-down-historian.ts'
import { askBody, fill, pointsEvery, type TestTag } from '../multi-harness.ts'
import type { DrawnRequest } from './nested-labels.ts'

const TAGS: Readonly<Record<string, TestTag>> = {
  DENSE: { points: pointsEvery(1) },
  HELD: { stepped: true, points: pointsEvery(1) },
  FINE: { points: pointsEvery(5, { bad: 7 }) },
  ROUGH: { points: pointsEvery(50, { bad: 5 }) },
  STEPS: { stepped: true, points: pointsEvery(17) },
  EMPTY: { points: [] },
}

const HISTORIANS = [new MemoryHistorian('plant'), new PushDownHistorian('server')]

export async function fillAll(): Promise<void> {
  for (const historian of HISTORIANS) await fill(historian, TAGS)
}

/** One of these tags in one of the historians. */
export function tagOf(...names: readonly string[]): fc.Arbitrary<string> {
  const historian = fc.constantFrom(...HISTORIANS.map(({ name }) => name))
  return fc.tuple(historian, fc.constantFrom(...names)).map((parts) => parts.join('/'))
}

/** Longer than any call takes of which a test says that nothing ends it, however slow the machine is. */
const LONG_SECONDS = 300

interface Load {
  readonly load: number
  readonly fetched: number
}

/**
 * The load that explain tells, and the points that were fetched; `null` when a limit or the deadline ended the call.
 */
export async function loadOf(
  requests: Readonly<Record<string, DrawnRequest>>,
  deadlineSeconds = LONG_SECONDS,
): Promise<Load | null> {
  const explained = await askBody(HISTORIANS, { requests, explain: true })
  assert.equal(explained.answer.outcome, 'explained')
  const { answer } = await askBody(HISTORIANS, { requests }, { limits: { deadlineSeconds } })
  if (answer.outcome !== 'executed') return null
  return { load: explained.json.explain.totals.load, fetched: answer.statistics.points }
}

/**
 * Functions that may have no value where their inputs have: a search for a good point passes by as many raw points as
 * there are, and fetches each once.
 */
const MAY_LACK_VALUES = /\b(DIV|PERCENTDEV|EXP|LN|SQRT|LOG|POW)\(|, DIFF,/
const ALL_POINTS = HISTORIANS.length * Object.values(TAGS).reduce((sum, { points }) => sum + points.length, 0)

/** Fetched are no more points than estimated, and those that docs/multi.md says are passed by. */
export function assertFetched({ load, fetched }: Load, requests: readonly DrawnRequest[]): void {
  const mayLackValues = requests.some(({ tag }) => MAY_LACK_VALUES.test(tag))
  const what = requests.map(({ type, tag }) => `${type} of ${tag}`).join('; ')
  assertWithinLoad(fetched, load + (mayLackValues ? ALL_POINTS : 0), what, requests.length)
}
