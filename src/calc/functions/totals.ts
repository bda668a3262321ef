import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Argument, Complaint, Parameter } from '../../grammar/tree.ts'
import { clampInstant } from '../../time/instant.ts'
import { makeWindows } from '../../time/total-windows.ts'
import { UTC } from '../../time/zone.ts'
import { ZONE_ABBREVIATIONS } from '../../time/zone-abbreviations.ts'
import { reachingTo, reachOf } from '../graph/reach.ts'
import { AnchoredTotal } from '../operators/accumulate/anchored-total.ts'
import { totalOp } from '../operators/rolling/ops.ts'
import { RollingOperator } from '../operators/rolling/rolling.ts'
import { RollingWindow } from '../operators/rolling/window.ts'
import { type BuildFunction, seriesParameter } from './define.ts'
import { checkFixedLength, fixedUs } from './fixed-length.ts'

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

/** Builds a total. @param fromRaw integrals are worked out from raw points, even where a historian could integrate */
export function totalOver(fromRaw: boolean): BuildFunction {
  return (args, context) => {
    const window = args.get('window', 'window')
    const anchor = args.get('anchor', 'anchor')
    const divisor = fixedUs(args.get('rate', 'duration').duration)
    const windows = makeWindows(window.window, anchor.anchor, context.zone)
    // The parser has refused this already.
    if (typeof windows === 'string')
      throw new TidemarkError('BUG', { what: 'the arguments of a total were checked' })
    const windowsText = `${window.text} ${anchor.text} ${context.zone.id}`
    if (windows.kind === 'anchored') {
      const from = clampInstant(windows.startAt(reachOf(context).from))
      const input = args.series('input', reachingTo(context, { from }))
      return new AnchoredTotal(input, { windows, windowsText, rateUs: divisor, fromRaw }, context)
    }
    const rolling = RollingWindow.of(windows, windowsText)
    const options = { op: totalOp(divisor), window: rolling, isTotal: true, fromRaw }
    return new RollingOperator(args.series('input', rolling.contextOf(context)), options, context)
  }
}

/** Refuses rates without a fixed length, and windows that are too long for their anchor. */
export function checkTotal(args: readonly Argument[]): Complaint | null {
  const badRate = checkFixedLength(args, 3, 'a rate of fixed length such as 1h or 1d')
  if (badRate !== null) return badRate
  const [, window, anchor] = args
  if (window?.kind !== 'window' || anchor?.kind !== 'anchor') return null
  // Which window is too long for which anchor does not depend on the zone.
  const windows = makeWindows(window.window, anchor.anchor, UTC)
  return typeof windows === 'string' ? { argument: 1, reason: windows } : null
}
