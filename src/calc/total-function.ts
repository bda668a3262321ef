import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Argument, Complaint, Parameter } from '../grammar/tree.ts'
import { makeWindows } from '../time/anchor.ts'
import { rateUs } from '../time/duration.ts'
import { UTC } from '../time/zone.ts'
import { ZONE_ABBREVIATIONS } from '../time/zone-abbreviations.ts'
import { type FunctionDefinition, seriesParameter } from './define-function.ts'
import type { Series, SeriesContext } from './series.ts'
import { TotalSeries } from './total-series.ts'

/** What TOTALISE and TOTALISERAW have in common. */
export const TOTAL_PARAMETERS: readonly Parameter[] = [
  seriesParameter('input'),
  { name: 'window', kind: 'window' },
  { name: 'anchor', kind: 'anchor' },
  { name: 'rate', kind: 'duration' },
]

export const TOTAL_RAW_TIMES =
  "Its input's raw timestamps in the range, each window start, the last microsecond before each window start, and the ends of the range."

export const TOTAL_DETAILS = [
  'At the very start of a window the total is 0, and just before it that of the whole window. Beyond `now` it is the total so far.',
  'The window is `HOUR DAY WEEK MONTH QUARTER YEAR` or a duration. The anchor is one of: `BEGIN_HOUR BEGIN_DAY BEGIN_WEEK BEGIN_MONTH BEGIN_QUARTER BEGIN_YEAR`, from where windows are laid end to end in the zone of the call and begin anew with the next; `[-]HH:MM[:SS]`, laid from midnight UTC plus that, a day being 24 hours; the same followed by `local`, laid in calendar steps from that time of the clocks; a time, laid from there, backwards too; a duration or `0`, for one window that ends at t plus that. A window longer than the period of its anchor is refused.',
  `A time may end with an abbreviation of a zone that means one offset only: ${ZONE_ABBREVIATIONS.join(' ')}.`,
].join('\n\n')

/** Builds a total. @param adapt gives the series that is integrated */
export function totalOver(
  adapt: (input: Series, name: string, context: SeriesContext) => Series,
): FunctionDefinition['build'] {
  return (args, context, name) => {
    const window = args.get('window', 'window')
    const anchor = args.get('anchor', 'anchor')
    const divisor = rateUs(args.get('rate', 'duration').duration)
    const layout = makeWindows(window.window, anchor.anchor, context.zone)
    // The parser has refused these already.
    if (divisor === null || typeof layout === 'string') {
      throw new TidemarkError('BUG', { what: 'the arguments of a total were checked' })
    }
    const names = { layout: `${window.text} ${anchor.text} ${context.zone.id}`, series: name }
    const input = adapt(args.series('input'), name, context)
    return new TotalSeries(input, layout, divisor, names, context)
  }
}

/** Refuses rates without a fixed length, and windows that are too long for their anchor. */
export function checkTotal(args: readonly Argument[]): Complaint | null {
  const [, window, anchor, rate] = args
  if (rate?.kind === 'duration' && rateUs(rate.duration) === null) {
    return { argument: 3, reason: `expected a rate of fixed length such as 1h or 1d, found ${rate.text}` }
  }
  if (window?.kind !== 'window' || anchor?.kind !== 'anchor') return null
  // Which window is too long for which anchor does not depend on the zone.
  const layout = makeWindows(window.window, anchor.anchor, UTC)
  return typeof layout === 'string' ? { argument: 1, reason: layout } : null
}
