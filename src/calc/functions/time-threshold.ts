import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parseTime } from '../../time/parse.ts'
import { select } from '../operators/crossings/select.ts'
import { TimeStepLeaf } from '../operators/crossings/time-step.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const timeThreshold = defineFunction({
  name: 'TIME_THRESHOLD',
  aliases: [],
  section: 'logic',
  parameters: [{ name: 'time', kind: 'time' }, seriesParameter('before'), seriesParameter('after')],
  summary: 'The second input until a time, without it; the third from that time on.',
  details:
    'A time that holds a comma is written in quotes. A relative one counts from the `now` of the call.',
  rawTimes: "The union of its inputs' raw timestamps, the time, and one microsecond before it.",
  stepped: 'When both inputs are constant or stepped.',
  nulls: 'A null, or a BAD point, of the input that is not taken does not matter.',
  cost: 'Sum of its inputs.',
  examples: [
    {
      calculation: 'TIME_THRESHOLD(2026-01-15T12:00:00Z, 1, 2)',
      at: '2026-01-15T11:59:59.999999Z',
      value: 1,
    },
    { calculation: 'TIME_THRESHOLD(2026-01-15T12:00:00Z, 1, 2)', at: '2026-01-15T12:00:00Z', value: 2 },
    { calculation: 'TIME_THRESHOLD(yesterday, constants/empty, 2)', at: '2026-01-14T00:00:00Z', value: 2 },
  ],
  source: 'docs/calculations.md#time_threshold',
  build: (args, context) => {
    const step = parseTime(args.get('time', 'time').text, context)
    if (step === null) throw new TidemarkError('BUG', { what: 'the time of TIME_THRESHOLD was parsed' })
    return select(new TimeStepLeaf(step, context), args.series('after'), args.series('before'), context)
  },
})
