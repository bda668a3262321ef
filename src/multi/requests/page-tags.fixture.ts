import type { TestTag } from '../../../test/multi-harness.ts'

/** The tags of the examples in docs/multi.md. */
export const FLOW: TestTag = {
  points: [
    ['10:00', 4],
    ['10:10', 1],
    ['10:20', 9],
    ['10:30', 2],
    ['10:40', 0, 'BAD'],
    ['10:50', 3],
    ['11:10', 5],
  ],
}

export const PUMP: TestTag = {
  stepped: true,
  points: [
    ['09:50', 1],
    ['10:10', 0],
    ['10:12', 1],
    ['10:30', 0],
    ['10:40', 1],
    ['10:41', 0],
    ['11:50', 1],
  ],
}
