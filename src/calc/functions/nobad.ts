import { DropBadOperator } from '../operators/drop-bad.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const nobad = defineFunction({
  name: 'NOBAD',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a')],
  summary: 'The input without its BAD raw points.',
  details: 'Its values between raw points stay what they are, since BAD points are left out of them anyway.',
  rawTimes: 'Those of its input at which it is not BAD.',
  stepped: 'When its input is.',
  nulls: 'propagate',
  cost: 'That of its input, and the BAD points that are read in passing.',
  examples: [{ calculation: 'NOBAD(5)', value: 5 }],
  source: 'docs/calculations.md#nobad',
  build: (args, context) => {
    const input = args.series('a')
    return input.varies === 'nothing' ? input : new DropBadOperator(input, context)
  },
})
