import type { Argument, Complaint } from '../../grammar/tree.ts'
import type { Operator } from '../graph/operator.ts'
import type { Comparison } from '../operators/crossings/comparison.ts'
import { decided, numberOf } from '../operators/crossings/decided.ts'
import { compare, select } from '../operators/crossings/select.ts'
import { changeBetween } from '../operators/map/monotone.ts'
import { defineFunction, seriesParameter } from './define.ts'

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
    "The union of its inputs' raw timestamps, and where the first two begin or cease to be equal, as crossings of THRESHOLD.",
  stepped: 'When the third and fourth input are constant or stepped.',
  nulls:
    'No value where one of the first two inputs has none. A null, or a BAD point, of the input that is not taken does not matter.',
  cost: 'Sum of its inputs; the raw point next to an instant costs the bounding values of that instant too. Against a number, with a precision that is a number or at most 10%, it reads as few blocks as THRESHOLD.',
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
  build: (args, context) => {
    const precision = args.find('precision', 'number')
    const comparison =
      precision === null
        ? withinPercent(DEFAULT_PRECISION)
        : precision.percent
          ? withinPercent(precision.value)
          : withinNumber(precision.value)
    const [a, b, t, f] = [args.series('a'), args.series('b'), args.series('t'), args.series('f')]
    const over = (a: Operator, b: Operator) => select(compare(comparison, a, b, context), t, f, context)
    if (t.varies !== 'nothing' || f.varies !== 'nothing') return over(a, b)
    const number = numberOf(b)
    if (number !== null) return decided((a) => over(a, b), a, bandOf(comparison, number), context)
    const first = numberOf(a)
    return decided((b) => over(a, b), b, first === null ? null : bandOf(comparison, first), context)
  },
})

/** Sizes of numbers whose sums and halves neither overflow nor lose digits. */
const LEAST_NUMBER = 1e-290
const GREATEST_NUMBER = 1e290

/** A comparison that holds for equal numbers, and for those beside one of them up to some distance on both sides. */
interface Band extends Comparison {
  /** Whether that is so for a number in the arithmetic of doubles, too. */
  readonly isBandAround: (number: number) => boolean
}

/** Where numbers begin and cease to be equal to one; `null` where that is not looked for. */
export function bandOf({ holds, isBandAround }: Band, number: number): readonly number[] | null {
  if (!isBandAround(number)) return null
  const isEqual = (x: number) => holds(x, number)
  const found: number[] = []
  if (!isEqual(-Number.MAX_VALUE)) found.push(...changeBetween(-Number.MAX_VALUE, number, isEqual))
  if (!isEqual(Number.MAX_VALUE)) found.push(...changeBetween(number, Number.MAX_VALUE, isEqual))
  return found.length === 0 ? null : [...new Set(found)]
}

export function withinNumber(precision: number): Band {
  return {
    isBandAround: () => true,
    holds: (a, b) => Math.abs(a - b) <= precision,
    gaps: [(a, b) => a - b - precision, (a, b) => a - b + precision],
  }
}

/** 200 |a - b| <= percent |a + b|, whose edges are two lines through the origin. */
export function withinPercent(percent: number): Band {
  return {
    // Near the edge of a wider band, and near the ends of what doubles are, rounding may not keep the order.
    isBandAround: (number) =>
      percent <= 10 && (number === 0 || isBetween(Math.abs(number), LEAST_NUMBER, GREATEST_NUMBER)),
    holds: (a, b) => (a === 0 && b === 0) || Math.abs((a - b) / middleOf(a, b)) * 100 <= percent,
    gaps: [
      (a, b) => (200 - percent) * a - (200 + percent) * b,
      (a, b) => (200 + percent) * a - (200 - percent) * b,
    ],
  }
}

function middleOf(a: number, b: number): number {
  const sum = a + b
  // Halves of the smallest numbers would be 0.
  return Number.isFinite(sum) ? sum / 2 : a / 2 + b / 2
}

function isBetween(number: number, least: number, greatest: number): boolean {
  return number >= least && number <= greatest
}

function checkArguments(args: readonly Argument[]): Complaint | null {
  const precision = args[4]
  if (precision?.kind !== 'number' || precision.value >= 0) return null
  return { argument: 4, reason: `expected a precision of 0 or more, found ${precision.text}` }
}
