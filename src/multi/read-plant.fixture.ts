import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { historianOf } from '../../test/multi-harness.ts'
import type { Historian } from '../historian/contract.ts'

/** The tags that the tests of multi calls read, on a historian `plant`. */
export function readPlant(): Promise<MemoryHistorian> {
  return historianOf('plant', {
    FLOW: {
      points: [
        ['10:00', 10],
        ['10:10', 30],
        ['10:20', 99, 'BAD'],
        ['10:30', 50],
        ['11:00', 20],
      ],
    },
    VALVE: {
      stepped: true,
      points: [
        ['10:00', 0],
        ['10:15', 1],
        ['13:00', 0],
      ],
    },
    EMPTY: { points: [] },
    LATER: {
      points: [
        ['11:00', 1],
        ['14:00', 4],
      ],
    },
  })
}

/** The same historian with some methods replaced. */
export function wrap(historian: Historian, replaced: Partial<Historian>): Historian {
  return new Proxy(historian, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof Historian]
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const READS = [
  'readPoints',
  'readRanges',
  'readBoundingValues',
  'readAggregates',
  'readInterpolated',
  'readIntegrals',
]

export function countingReads(historian: Historian): { historian: Historian; reads: () => number } {
  let reads = 0
  const counting = new Proxy(historian, {
    get: (target, name) => {
      if (READS.includes(String(name))) reads++
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { historian: counting, reads: () => reads }
}
