import type { TestContext } from 'node:test'
import { TimeSlice } from '../src/scheduling/time-slice.ts'

/** Every slice of the event loop is spent at once; gives how often work yielded. */
export function alwaysDue(t: TestContext): () => number {
  t.mock.method(TimeSlice.prototype, 'isSpent', () => true)
  const { mock } = t.mock.method(TimeSlice.prototype, 'next', () => Promise.resolve())
  return () => mock.callCount()
}
