import { reachOf } from '../graph/reach.ts'
import { shift } from '../operators/shift/shift.ts'
import { TimeMap } from '../operators/shift/time-map.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const timeshift = defineFunction({
  name: 'TIMESHIFT',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a'), { name: 'offset', kind: 'offset' }],
  summary: 'The value that the input has an offset later: a positive offset moves data to an earlier time.',
  details:
    'Days and longer are steps on the calendar in the zone of the call: where clocks change, or a month is shorter than the other, the same data can come twice or be left out. A relative time such as `last moment of yesterday` is resolved against each time as its `now`.',
  rawTimes:
    'Those of its input, moved. Where clocks or months change how far it is moved, and where a relative time becomes another instant, there is one more.',
  stepped: 'When its input is, or a relative time gives the same instant for a while.',
  nulls: 'propagate',
  cost: 'That of its input.',
  examples: [
    { calculation: 'TIMESHIFT(5, 1h)', value: 5 },
    { calculation: 'TIMESHIFT(dates/DAY_UTC, 1d)', at: '2024-02-28T12:00:00Z', value: 29 },
    { calculation: 'TIMESHIFT(dates/DAY_UTC, -24:00)', at: '2024-03-01T12:00:00Z', value: 29 },
    {
      calculation: 'TIMESHIFT(dates/MONTH_UTC, last moment of yesterday)',
      at: '2024-03-01T12:00:00Z',
      value: 2,
    },
  ],
  source: 'docs/calculations.md#timeshift',
  build: (args, context) => {
    const { offset, text } = args.get('offset', 'offset')
    const map = new TimeMap(offset, text, context.zone)
    const [range, reach] = [map.hullOf(context.range), map.hullOf(reachOf(context))]
    return shift(args.series('a', { ...context, range, reach }), map, context)
  },
})
