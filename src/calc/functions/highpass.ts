import { pairs } from '../operators/map/arithmetic.ts'
import { MapOperator } from '../operators/map/map.ts'
import { HighPassOperator } from '../operators/scan/filter.ts'
import { defineFunction, seriesParameter } from './define.ts'
import { checkPeriod, filterInput } from './lowpass.ts'

export const highpass = defineFunction({
  name: 'HIGHPASS',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a'), { name: 'seconds', kind: 'number' }],
  check: checkPeriod,
  summary: 'The input less its LOWPASS, with a cut-off period in seconds.',
  rawTimes: 'Those of its input.',
  stepped: 'Never.',
  nulls: 'propagate',
  cost: 'That of its input and of its LOWPASS; what both need is read once.',
  examples: [{ calculation: 'HIGHPASS(5, 60)', value: 0 }],
  source: 'docs/calculations.md#highpass',
  dependsOnRange: 'reach',
  build: (args, context) => {
    const { input, periodUs } = filterInput(args, context)
    if (input.varies !== 'nothing') return new HighPassOperator(input, periodUs, context)
    return new MapOperator(
      { combine: pairs((x, low) => x - low), linear: () => true },
      [input, input],
      context,
    )
  },
})
