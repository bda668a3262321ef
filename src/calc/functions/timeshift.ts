import { END_INSTANT, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import { defineFunction, seriesParameter } from '../define-function.ts'
import { MappedSeries } from '../mapped-series.ts'
import { OffsetMap } from '../offset-map.ts'
import type { Series, SeriesContext } from '../series.ts'
import { ShiftedSeries } from '../shifted-series.ts'

export const timeshift = defineFunction({
  name: 'TIMESHIFT',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a'), { name: 'offset', kind: 'offset' }],
  summary: 'The value that the input has an offset later: a positive offset moves data to an earlier time.',
  details:
    'Days and longer are steps on the calendar in the zone of the call: where clocks change, or a month is shorter than the other, the same data can come twice or be left out. A relative time such as `last moment of yesterday` is resolved against each time as its `now`.',
  rawTimes:
    'Those of its input, moved. Where clocks or months change how far it is moved, and where a relative time leads to another instant, there is one more.',
  stepped: 'When its input is, or a relative time leads to the same instant for a while.',
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
  build: (args, context, name) => {
    const { offset, text } = args.get('offset', 'offset')
    const { range, zone } = context
    if (offset.kind === 'exact' || offset.kind === 'clock') {
      const { us } = offset
      const [from, to] = [clip(range.from + us), clip(range.to + us)]
      return shifted(args.series('a', { ...context, range: { from, to } }), us, name, context)
    }
    const map = new OffsetMap(offset, zone)
    const input = args.series('a', { ...context, range: map.hullOf(range.from, range.to) })
    if (input.varies === 'nothing') return input
    return new MappedSeries(input, map, { map: `${text} ${zone.id}`, series: name }, context)
  },
})

function shifted(input: Series, us: number, name: string, context: SeriesContext): Series {
  if (us === 0 || input.varies === 'nothing') return input
  // Together, so that moving back gives the input itself, and nothing is lost beyond the accepted range in between.
  if (input instanceof ShiftedSeries) return shifted(input.input, input.us + us, name, context)
  return new ShiftedSeries(input, us, name, context)
}

function clip(us: number) {
  return instantFromUs(Math.min(Math.max(us, MIN_INSTANT), END_INSTANT - 1))
}
