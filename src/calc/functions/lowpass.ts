import type { Argument, Complaint } from '../../grammar/tree.ts'
import { US_PER_SECOND } from '../../time/instant.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'
import { reachOf } from '../graph/reach.ts'
import { LowPassOperator, startOfFilter } from '../operators/scan/filter.ts'
import type { BoundArguments } from './bound-arguments.ts'
import { defineFunction, type FunctionDefinition, seriesParameter } from './define.ts'

export const lowpass = defineFunction({
  name: 'LOWPASS',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a'), { name: 'seconds', kind: 'number' }],
  check: checkPeriod,
  summary: 'First-order low-pass over the raw points of the input, with a cut-off period in seconds.',
  details:
    'At each good raw point x, a time dt after the one before, y += (1 - exp(-2 pi dt / T)) (x - y). It starts with y = x at the first good raw point at or after the start of the range less 5 T; before that it has no value. Inside of a total or of windows the range begins where the first of these does. Between its points it goes straight, also where the input has no value between them, as in a gap by `maxGap`; HIGHPASS has none there. A constant stays itself.',
  rawTimes: 'Those of its input at which it is good, from the start of the filter on.',
  stepped: 'Never.',
  nulls: 'BAD points and points without a value are left out.',
  cost: 'The raw points of its input in the range and 5 T before it.',
  examples: [
    { calculation: 'LOWPASS(5, 60)', value: 5 },
    {
      // From -10 to 10 at this point, two periods after the one before.
      calculation: 'LOWPASS(siggen/sq10@200, 1)',
      at: '1970-01-01T00:00:00Z',
      value: 10 - 20 * Math.exp(-4 * Math.PI),
    },
  ],
  source: 'docs/calculations.md#lowpass',
  dependsOnRange: 'reach',
  build: (args, context) => {
    const { input, periodUs } = filterInput(args, context)
    return input.varies === 'nothing' ? input : new LowPassOperator(input, periodUs, context)
  },
})

/** The input of a filter, which it reads from its start on; with the cut-off period in microseconds. */
export function filterInput(
  args: BoundArguments,
  context: OperatorContext,
): { readonly input: Operator; readonly periodUs: number } {
  const periodUs = args.get('seconds', 'number').value * US_PER_SECOND
  const { range, reach } = { range: context.range, reach: reachOf(context) }
  const inner = {
    range: { from: startOfFilter(range.from, periodUs), to: range.to },
    reach: { from: startOfFilter(reach.from, periodUs), to: reach.to },
  }
  return { input: args.series('a', { ...context, ...inner }), periodUs }
}

export function checkPeriod(args: readonly Argument[]): ReturnType<NonNullable<FunctionDefinition['check']>> {
  const seconds = args[1]
  if (seconds?.kind !== 'number' || seconds.value > 0) return null
  const complaint: Complaint = {
    argument: 1,
    reason: `expected a number of seconds above 0, found ${seconds.text}`,
  }
  return complaint
}
