import type { Argument, Complaint } from '../../grammar/tree.ts'
import { compare } from '../compare.ts'
import type { Comparison } from '../comparison.ts'
import { defineFunction, seriesParameter } from '../define-function.ts'
import { select } from '../select.ts'

/** In percent. */
const DEFAULT_PRECISION = 0.01

export const ifequals = defineFunction({
  name: 'IFEQUALS',
  aliases: [],
  section: 'logic',
  parameters: [
    seriesParameter('a'),
    seriesParameter('b'),
    seriesParameter('t'),
    seriesParameter('f'),
    { name: 'precision', kind: 'number', percent: true, optional: true },
  ],
  check: checkArguments,
  summary:
    'The third input where the first two are equal within a precision, the fourth elsewhere. The precision is a number, a percentage of the mean of both, or 0.01% when it is left out.',
  details:
    'A number is compared with abs(a - b), a percentage with abs((a - b) / ((a + b) / 2)) * 100; two zeros are equal. Crossings between raw points have raw points of their own, as those of THRESHOLD have.',
  rawTimes:
    "The union of its inputs' raw timestamps, and where the first two begin or cease to be equal when these are linear.",
  stepped: 'When the third and fourth input are constant or stepped.',
  nulls:
    'No value where one of the first two inputs has none. A null, or a BAD point, of the input that is not taken does not matter.',
  cost: 'Sum of its inputs; the raw point next to an instant costs the neighbours of that instant too.',
  examples: [
    { calculation: 'IFEQUALS(80, 100, 1, 0, 20)', value: 1 },
    { calculation: 'IFEQUALS(80, 100, 1, 0, 20%)', value: 0 },
    { calculation: 'IFEQUALS(80, 100, 1, 0, 22.3%)', value: 1 },
    { calculation: 'IFEQUALS(10000, 10001, 1, 0)', value: 1 },
    { calculation: 'IFEQUALS(10000, 10002, 1, 0)', value: 0 },
    { calculation: 'IFEQUALS(0, 0, 1, 0)', value: 1 },
    { calculation: 'IFEQUALS(1, -1, 1, 0)', value: 0 },
  ],
  source: 'docs/calculations.md#ifequals',
  build: (args, context, name) => {
    const precision = args.find('precision', 'number')
    const comparison =
      precision === null
        ? withinPercent(DEFAULT_PRECISION)
        : precision.percent
          ? withinPercent(precision.value)
          : withinNumber(precision.value)
    return select(
      compare(comparison, args.series('a'), args.series('b'), `${name} comparison`, context),
      args.series('t'),
      args.series('f'),
      name,
      context,
    )
  },
})

function withinNumber(precision: number): Comparison {
  return {
    holds: (a, b) => Math.abs(a - b) <= precision,
    gaps: [(a, b) => a - b - precision, (a, b) => a - b + precision],
  }
}

/** 200 |a - b| <= percent |a + b|, whose edges are two lines through the origin. */
function withinPercent(percent: number): Comparison {
  return {
    holds: (a, b) => (a === 0 && b === 0) || Math.abs((a - b) / ((a + b) / 2)) * 100 <= percent,
    gaps: [
      (a, b) => (200 - percent) * a - (200 + percent) * b,
      (a, b) => (200 + percent) * a - (200 - percent) * b,
    ],
  }
}

function checkArguments(args: readonly Argument[]): Complaint | null {
  const precision = args[4]
  if (precision?.kind !== 'number' || precision.value >= 0) return null
  return { argument: 4, reason: `expected a precision of 0 or more, found ${precision.text}` }
}
