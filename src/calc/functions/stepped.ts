import { stepInterpolated } from '../operators/scan/hold.ts'
import { defineFunction, seriesParameter } from './define.ts'

const details =
  'The first input is held from each good raw point to the next. A BAD one is passed by, and so is one whose value leaves the range of doubles; where an input of a calculation has no value at its raw point, the hold ends there.'

export const stepped = defineFunction({
  name: 'STEPPED',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a')],
  summary: 'The input, held between its raw points.',
  details,
  rawTimes: 'Those of its input.',
  stepped: 'Always.',
  nulls: 'No value before the first good raw point and, beyond `now`, after the last one.',
  cost: 'That of its input; for a calculation that is not stepped the raw points of the range.',
  examples: [{ calculation: 'STEPPED(5)', value: 5 }],
  source: 'docs/calculations.md#stepped',
  build: (args, context) => stepInterpolated(args.series('a'), true, context),
})

export const steppedRaw = defineFunction({
  name: 'STEPPEDRAW',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a')],
  summary:
    'The input, held between its raw points; functions around it work on these and on nothing that a historian computes.',
  details,
  rawTimes: 'Those of its input.',
  stepped: 'Always.',
  nulls: 'No value before the first good raw point and, beyond `now`, after the last one.',
  cost: 'The raw points that are needed of its input.',
  examples: [{ calculation: 'STEPPEDRAW(5)', value: 5 }],
  source: 'docs/calculations.md#steppedraw',
  build: (args, context) => stepInterpolated(args.series('a'), false, context),
})
