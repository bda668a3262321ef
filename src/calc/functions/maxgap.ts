import { defineFunction, seriesParameter } from './define.ts'
import { checkFixedLength, fixedUs } from './fixed-length.ts'

export const maxGap = defineFunction({
  name: 'MAXGAP',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('x'), { name: 'duration', kind: 'duration' }],
  check: (args) => checkFixedLength(args, 1, 'a duration of fixed length such as 5min or 1d'),
  summary: 'The input, whose stored tags have values only as long as their good points are good for.',
  details: [
    'A good raw point at t of a stored tag is good for [t, t + duration) where no other good one comes within that time. A stepped tag keeps its value that long and then has none until its next good point. A linear tag has none strictly between two good points that are further apart (exactly that far apart is no gap), and keeps the last value until the duration is over or `now`, whichever comes first.',
    'It acts on the signals of all stored tags in its argument, and takes the place of `maxGap` in the details of the request and in the metadata of the tag; of several MAXGAP around a tag the innermost counts. Raw points and aggregates over them stay what they are. A day is 24 hours, and a week 168.',
    'A calculation over an input without a value follows its own rule for null. What makes a signal of its own from raw points (STEPPED of a calculation, LOWPASS, WINDOWAGG) goes on between them.',
  ].join('\n\n'),
  rawTimes: 'Those of its input.',
  stepped: 'When its input is.',
  nulls: 'propagate',
  cost: 'That of its input. Where a historian does not know how far points are apart, what it would compute of the signal is worked out from points: two for each value, and all of the range for integrals and time averages.',
  examples: [{ calculation: 'MAXGAP(5, 10min)', value: 5 }],
  source: 'docs/calculations.md#maxgap',
  build: (args, context) => {
    const maxGapUs = fixedUs(args.get('duration', 'duration').duration)
    return args.series('x', { ...context, maxGapUs })
  },
})
