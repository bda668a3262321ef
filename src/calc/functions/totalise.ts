import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Argument, Complaint } from '../../grammar/tree.ts'
import { makeWindows } from '../../time/anchor.ts'
import { rateUs } from '../../time/duration.ts'
import { UTC } from '../../time/zone.ts'
import { defineFunction, seriesParameter } from '../define-function.ts'
import { TotalSeries } from '../total-series.ts'

export const totalise = defineFunction({
  name: 'TOTALISE',
  aliases: ['TOTALISE2'],
  parameters: [
    seriesParameter('input'),
    { name: 'window', kind: 'window' },
    { name: 'anchor', kind: 'anchor' },
    { name: 'rate', kind: 'duration' },
  ],
  check: checkArguments,
  summary:
    'Integral of the input from the start of the window that holds the time up to the time, divided by the rate.',
  nulls: 'Stretches without a value add nothing.',
  cost: 'The points of its input from the start of the first window on, or one for each time plus 2 where the historian integrates.',
  examples: [
    {
      calculation: 'TOTALISE(1, 1d, 00:00:00, 1h)',
      at: '2023-05-05T23:59:59.9999999Z',
      value: 24 - 1 / 3.6e9,
    },
    { calculation: 'TOTALISE(1, 1d, 00:00:00, 1h)', at: '2023-05-06T00:00:00Z', value: 0 },
    {
      calculation: 'TOTALISE(1, QUARTER, BEGIN_QUARTER, 1d)',
      at: '2023-03-31T23:59:59.999999Z',
      value: 90 - 1 / 8.64e10,
    },
    {
      calculation: 'TOTALISE2(constants/1, MONTH, BEGIN_MONTH, 1d)',
      at: '2023-09-25T17:29:04.446620+02:00',
      zone: 'Europe/Oslo',
      value: (24 * 86_400_000_000 + 62_944_446_620) / 86_400_000_000,
    },
    {
      calculation: 'TOTALISE(1, MONTH, BEGIN_MONTH, 1h)',
      at: '2023-03-31T23:59:59.999999+02:00',
      zone: 'Europe/Oslo',
      value: 743 - 1 / 3.6e9,
    },
    {
      calculation: 'TOTALISE(1, MONTH, BEGIN_MONTH, 1h)',
      at: '2023-10-31T23:59:59.999999+01:00',
      zone: 'Europe/Oslo',
      value: 745 - 1 / 3.6e9,
    },
  ],
  source: 'docs/calculations.md#totalise',
  build: (args, context, name) => {
    const window = args.get('window', 'window')
    const anchor = args.get('anchor', 'anchor')
    const divisor = rateUs(args.get('rate', 'duration').duration)
    const layout = makeWindows(window.window, anchor.anchor, context.zone)
    // The parser has refused these already.
    if (divisor === null || typeof layout === 'string') {
      throw new TidemarkError('BUG', { what: 'the arguments of TOTALISE were checked' })
    }
    const layoutName = `${window.text} ${anchor.text} ${context.zone.id}`
    return new TotalSeries(
      args.series('input'),
      layout,
      divisor,
      { layout: layoutName, series: name },
      context,
    )
  },
})

function checkArguments(args: readonly Argument[]): Complaint | null {
  const [, window, anchor, rate] = args
  if (rate?.kind === 'duration' && rateUs(rate.duration) === null) {
    return { argument: 3, reason: `expected a rate of fixed length such as 1h or 1d, found ${rate.text}` }
  }
  if (window?.kind !== 'window' || anchor?.kind !== 'anchor') return null
  // Which window is too long for which anchor does not depend on the zone.
  const layout = makeWindows(window.window, anchor.anchor, UTC)
  return typeof layout === 'string' ? { argument: 1, reason: layout } : null
}
