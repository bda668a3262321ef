import type { TestContext } from 'node:test'
import { TurnBudget } from '../src/scheduling/turn-budget.ts'

/** Every slice of the event loop is spent at once; gives how often work rested. */
export function alwaysDue(t: TestContext): () => number {
  t.mock.method(TurnBudget.prototype, 'isSpent', () => true)
  const { mock } = t.mock.method(TurnBudget.prototype, 'next', () => Promise.resolve())
  return () => mock.callCount()
}
