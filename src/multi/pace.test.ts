import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import type { TagNode } from '../grammar/tree.ts'
import type { HistorianView } from '../historian/registry.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { TurnBudget } from '../scheduling/turn-budget.ts'
import { type Plan, totalsOf } from './plan.ts'
import { resolveTags } from './resolve.ts'

const LABELS = 20_000
const { signal } = new AbortController()
const historian = new MemoryHistorian('local')
const historians: Pick<HistorianView, 'find'> = { find: () => historian }
const nameOf = (i: number) => `tag ${i}`

/** Every slice of the event loop is spent at once; gives how often work rested. */
function alwaysDue(t: TestContext): () => number {
  t.mock.method(TurnBudget.prototype, 'isSpent', () => true)
  const { mock } = t.mock.method(TurnBudget.prototype, 'next', () => Promise.resolve())
  return () => mock.callCount()
}

test('the tags of very many labels are gone through in slices, those of a few at once', async (t) => {
  const rests = alwaysDue(t)
  const resolve = (count: number) => {
    const trees = Array.from({ length: count }, (_, i): TagNode => {
      return { kind: 'tag', historian: 'local', name: nameOf(i), column: 1 }
    })
    return resolveTags(trees, historians as HistorianView, { signal }, new Map())
  }
  await resolve(100)
  assert.equal(rests(), 0)
  const resolved = await resolve(LABELS)
  // Once as they are wanted, once as they are found.
  assert.ok(rests() >= LABELS / 128, `${rests()} rests`)
  const last = { historian: 'local', name: nameOf(LABELS - 1) } as TagNode
  assert.throws(() => resolved.stored(last), { code: 'TAG_NOT_FOUND' })
})

test('what very many labels need is added up in slices', async (t) => {
  const rests = alwaysDue(t)
  const labels = Array.from({ length: LABELS }, (_, i) => ({
    kind: 'planned',
    size: { points: 2, windows: 1 },
    reads: [{ read: { historian: 'local', tag: nameOf(i % 5_000) }, points: 1, isCapped: false }],
  }))
  const scheduler = new CooperativeScheduler(signal)
  const plan = { labels, reads: null } as unknown as Plan
  const totals = await totalsOf(plan, { withLoad: false }, () => scheduler.yieldIfDue())
  assert.deepEqual(totals, {
    requestedPoints: 2 * LABELS,
    aggregateWindows: LABELS,
    effectiveTags: 5_000,
    load: null,
  })
  assert.ok(rests() >= (2 * LABELS) / 1_024 - 2, `${rests()} rests`)
})
