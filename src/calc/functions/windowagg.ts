import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Argument, Complaint } from '../../grammar/tree.ts'
import { rateUs } from '../../time/duration.ts'
import { defineFunction, seriesParameter } from '../define-function.ts'
import { WINDOW_OPS, type WindowOp, WindowSeries } from '../window-series.ts'

export const windowagg = defineFunction({
  name: 'WINDOWAGG',
  aliases: [],
  section: 'windows',
  parameters: [
    seriesParameter('input'),
    { name: 'op', kind: 'word', words: WINDOW_OPS },
    { name: 'window', kind: 'duration' },
  ],
  check: checkArguments,
  summary:
    "Aggregate of the input's good raw points over windows of one length, laid end to end from midnight UTC at or before the start of the range.",
  details: [
    'The windows just outside the range are included, so that its ends have values. A window without good points has no point; its COUNT is 0. STDDEV and VAR are sample deviation and variance, 0 of one point. A day is 24 hours and a week 168; months and years are refused.',
    'For INTERPOLATED_POINTS, windows are as long as the points are apart when at least two of them would fall on each.',
  ].join('\n\n'),
  rawTimes: 'The start of each window for MIN, MAX, COUNT and SUM, its middle for AVG, STDDEV and VAR.',
  stepped: 'For MIN, MAX, COUNT and SUM; AVG, STDDEV and VAR are linear.',
  nulls: 'Points without a value are left out.',
  cost: 'One for each window where the historian aggregates, otherwise the points of its input in them.',
  examples: [
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, MAX, 1d)', at: '2026-02-03T12:00:00Z', value: 3 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, COUNT, 1d)', at: '2026-02-03T12:00:00Z', value: 1 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, AVG, 1d)', at: '2026-02-03T18:00:00Z', value: 3.25 },
    { calculation: 'WINDOWAGG(5, COUNT, 1h)', value: 0 },
    { calculation: 'WINDOWAGG(5, AVG, 1h)', value: null },
  ],
  source: 'docs/calculations.md#windowagg',
  build: (args, context, name) => {
    const lengthUs = rateUs(args.get('window', 'duration').duration)
    // The parser has refused these already.
    if (lengthUs === null) throw new TidemarkError('BUG', { what: 'the arguments of WINDOWAGG were checked' })
    const op = args.get('op', 'word').word as WindowOp
    return new WindowSeries(args.series('input'), op, lengthUs, name, context)
  },
})

function checkArguments(args: readonly Argument[]): Complaint | null {
  const window = args[2]
  if (window?.kind !== 'duration' || rateUs(window.duration) !== null) return null
  return {
    argument: 2,
    reason: `expected a window of fixed length such as 1h or 1d, found ${window.text}`,
  }
}
