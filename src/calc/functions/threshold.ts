import type { Operator } from '../graph/operator.ts'
import type { Comparison } from '../operators/crossings/comparison.ts'
import { decided, numberOf } from '../operators/crossings/decided.ts'
import { compare, select } from '../operators/crossings/select.ts'
import { defineFunction, seriesParameter } from './define.ts'

const AT_LEAST: Comparison = {
  holds: (a, b) => a >= b,
  gaps: [(a, b) => a - b],
}

export const threshold = defineFunction({
  name: 'THRESHOLD',
  aliases: [],
  section: 'logic',
  parameters: [seriesParameter('a'), seriesParameter('b'), seriesParameter('t'), seriesParameter('f')],
  summary: 'The third input where the first is at least as large as the second, the fourth elsewhere.',
  details:
    'A crossing between two raw points has a raw point of its own, at the first microsecond with the other answer. A comparison that ends on a whole microsecond still holds there, so that instant has a raw point too, and the next microsecond the one that ends it. With constants for the third and fourth input the result is stepped, and its integral is exact: run hours come out as the line says.',
  rawTimes:
    "The union of its inputs' raw timestamps, and the crossings of the first two: all where these are linear; where one bends, as products and rolling windows do, one in each segment whose ends have different answers, wherever a range, a page or a search begins. A segment goes from one raw timestamp of the first two to the next; it is cut where a hold or a maximum gap ends. Rolling windows also have segments before the first raw timestamp and after the last, until all windows have passed these and the ends of holds.",
  stepped: 'When the third and fourth input are constant or stepped.',
  nulls:
    'No value where one of the first two inputs has none. A null, or a BAD point, of the input that is not taken does not matter.',
  cost: 'Sum of its inputs; the raw point next to an instant costs the bounding values of that instant too. Totals and time averages of a stored tag against a number, with constants for t and f, read only the blocks that the number lies within, where the historian keeps summaries (embedded); ADD, SUB, MUL, DIV and NEG of the tag and numbers, NOBAD, and TIMESHIFT by a duration may stand between. Where an input bends, a range is read from the raw point before it to the one after it.',
  examples: [
    { calculation: 'THRESHOLD(5, 4, 1, 0)', value: 1 },
    { calculation: 'THRESHOLD(4, 4, 1, 0)', value: 1 },
    { calculation: 'THRESHOLD(3, 4, 1, 0)', value: 0 },
    { calculation: 'THRESHOLD(3, 4, constants/empty, 7)', value: 7 },
    { calculation: 'THRESHOLD(constants/empty, 4, 1, 0)', value: null },
  ],
  source: 'docs/calculations.md#threshold',
  build: (args, context) => {
    const [a, b, t, f] = [args.series('a'), args.series('b'), args.series('t'), args.series('f')]
    const over = (a: Operator, b: Operator) => select(compare(AT_LEAST, a, b, context), t, f, context)
    if (t.varies !== 'nothing' || f.varies !== 'nothing') return over(a, b)
    const limit = numberOf(b)
    if (limit !== null) return decided((a) => over(a, b), a, [limit], context)
    const least = numberOf(a)
    return decided((b) => over(a, b), b, least === null ? null : [least], context)
  },
})
