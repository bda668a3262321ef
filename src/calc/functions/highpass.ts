import { fold } from '../arithmetic.ts'
import { defineFunction, seriesParameter } from '../define-function.ts'
import { ElementwiseSeries } from '../elementwise.ts'
import { checkPeriod, filterInput, lowPassOf } from './lowpass.ts'

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
  build: (args, context, name) => {
    const { input, periodUs } = filterInput(args, context)
    const low = lowPassOf(input, periodUs, `${name} low`, context)
    const rule = { combine: fold((input, low) => input - low), straight: () => true }
    return new ElementwiseSeries(rule, [input, low], name, context)
  },
})
