import type { Argument, Complaint } from '../../grammar/tree.ts'
import { US_PER_DAY } from '../../time/instant.ts'
import { resolveReference } from '../../time/offset.ts'
import { ConstantLeaf } from '../leaves/constant.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const pointintime = defineFunction({
  name: 'POINTINTIME',
  aliases: [],
  section: 'conditioning',
  parameters: [seriesParameter('a'), { name: 'reference', kind: 'offset' }],
  check: checkReference,
  summary: 'The value that the input has at one time, as a constant.',
  details:
    'The time is an offset from the `now` of the call (`-2h`, `-02:00`, a number of milliseconds), a clock time of today without a sign (`06:00`), or a relative time (`last moment of yesterday`).',
  rawTimes: 'None.',
  stepped: 'Always.',
  nulls:
    'No value at any time where the input has none at that one, or the time is outside the accepted range.',
  cost: 'That of its input at one time.',
  examples: [
    { calculation: 'POINTINTIME(5, -2h)', value: 5 },
    { calculation: 'POINTINTIME(dates/DAY_UTC, 10d)', at: '2020-01-01T00:00:00Z', value: 25 },
    { calculation: 'POINTINTIME(dates/DAY_UTC, last moment of yesterday)', value: 14 },
  ],
  source: 'docs/calculations.md#pointintime',
  build: (args, context) => {
    const at = resolveReference(args.get('reference', 'offset').offset, context.now, context.zone)
    if (at === null) return ConstantLeaf.of(Number.NaN, context)
    const range = { from: at, to: at }
    const { spacingUs: _, ...others } = context
    const input = args.series('a', { ...others, range, reach: range })
    return ConstantLeaf.valueAt(input, at, context)
  },
})

function checkReference(args: readonly Argument[]): Complaint | null {
  const reference = args[1]
  if (reference?.kind !== 'offset' || reference.offset.kind !== 'clock') return null
  const { us, isSigned } = reference.offset
  if (isSigned || us < US_PER_DAY) return null
  return { argument: 1, reason: `expected a time of the day before 24:00, found ${reference.text}` }
}
