import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Argument, Complaint } from '../../grammar/tree.ts'
import { anchoredWindows } from '../../time/anchored-windows.ts'
import { type Duration, daysOf } from '../../time/duration.ts'
import { clampInstant, type Instant, instantFromUs, US_PER_DAY } from '../../time/instant.ts'
import { type LocalBoundaries, parseWindowAnchor } from '../../time/window-anchor.ts'
import { exactWindows, nominalUs } from '../../time/windows.ts'
import { reachingTo, reachOf } from '../graph/reach.ts'
import { WINDOW_OPS, type WindowOp, windowOp } from '../operators/resample/ops.ts'
import { ResampleOperator } from '../operators/resample/resample.ts'
import { allWindows, windowsAround } from '../operators/resample/windowing.ts'
import { defineFunction, seriesParameter } from './define.ts'
import { checkFixedLength, checkUnit, UNIT_PARAMETER, unitUsOf } from './fixed-length.ts'

export const windowagg = defineFunction({
  name: 'WINDOWAGG',
  aliases: [],
  section: 'windows',
  parameters: [
    seriesParameter('input'),
    { name: 'op', kind: 'word', words: Object.keys(WINDOW_OPS) },
    { name: 'window', kind: 'duration' },
    UNIT_PARAMETER,
    { name: 'anchor', kind: 'window-anchor', optional: true },
  ],
  check: checkArguments,
  summary:
    "Aggregate of the input's raw points, or of its signal, over windows of one length, laid end to end from midnight UTC at or before the start of the range, windows of weeks from Monday; or from an anchor on the clocks of the call's zone.",
  details: [
    'The windows just outside the range are included, so that its ends have values; there are no others, whatever is looked for. A window without good points has no point; its COUNT, which counts good points as NUMGOOD does, is 0, and so is NUMBAD without BAD ones. Over windows without a point a stepped signal goes on to the next one, and a linear one straight to it, from the window before the range on; inside of a total or of windows the range begins where the first of these does. DIFF is the value of the signal just before the end of the window minus that at its start, and has no point where either is missing. TOTAL is the integral of the signal over the part of the window where it has a value, divided by the unit (`1h` for a rate per hour), and has no point where it has none. STDDEV and VAR are sample deviation and variance, 0 of one point. Without an anchor a day is 24 hours and a week 168; months and years are refused.',
    'The anchor is that of [windows of aggregate requests](multi.md#windows): a local time of day such as `06:00`; for weeks also `sunday 06:00`, for months `15 06:00`, for years `10-01 06:00`. Hours must divide a day. Windows then begin and end at those times on the clocks of the zone, so that those over a change of clocks are shorter or longer.',
    'For INTERPOLATED_POINTS, windows are as long as the points are apart when at least two of them would fall on each, laid from the same midnight, or from where the anchored window begins that holds the start of the range.',
  ].join('\n\n'),
  rawTimes: 'The middle of each window for AVG, STDDEV and VAR, its start for all others.',
  stepped: 'Always but for AVG, STDDEV and VAR, which are linear.',
  nulls: 'Points without a value are left out.',
  cost: 'One for each window where the historian aggregates, otherwise the points of its input in them.',
  examples: [
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, MAX, 1d)', at: '2026-02-03T12:00:00Z', value: 3 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, COUNT, 1d)', at: '2026-02-03T12:00:00Z', value: 1 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, AVG, 1d)', at: '2026-02-03T18:00:00Z', value: 3.25 },
    { calculation: 'WINDOWAGG(5, COUNT, 1h)', value: 0 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_MONTH, NUMBAD, 1d)', at: '2026-02-03T12:00:00Z', value: 0 },
    { calculation: 'WINDOWAGG(dates/DAY_OF_YEAR, DIFF, 1w)', at: '2026-02-04T12:00:00Z', value: 6 },
    { calculation: 'WINDOWAGG(5, TOTAL, 8h, 1h)', at: '2026-02-03T12:00:00Z', value: 40 },
    {
      calculation: 'WINDOWAGG(5, TOTAL, 1d, 1h, 06:00)',
      at: '2026-03-28T12:00:00Z',
      zone: 'Europe/Oslo',
      value: 115,
    },
    { calculation: 'WINDOWAGG(5, AVG, 1h)', value: null },
  ],
  source: 'docs/calculations.md#windowagg',
  dependsOnRange: 'reach',
  build: (args, context) => {
    const { duration } = args.get('window', 'duration')
    const anchor = args.find('anchor', 'window-anchor')
    const { range, spacingUs = 0, zone } = context
    const anchored = anchor === null ? null : anchoredWindows(checkedBoundaries(anchor, duration), zone)
    const nominal = nominalUs(duration)
    const isWidened = spacingUs >= 2 * nominal
    const lengthUs = isWidened ? Math.floor(spacingUs) : nominal
    const origin = anchored === null ? originOf(duration, range.from) : anchored(range.from).start
    const windows = anchored === null || isWidened ? exactWindows(origin, lengthUs) : anchored
    const op = windowOp(args.get('op', 'word').word as WindowOp, unitUsOf(args))
    const bounds = windowsAround(windows, allWindows(windows), reachOf(context))
    const input = args.series(
      'input',
      reachingTo(context, { from: clampInstant(bounds.from), to: clampInstant(bounds.to) }),
    )
    return new ResampleOperator(input, op, { find: windows, lengthUs, bounds }, context)
  },
})

/** 1970-01-05. */
const FIRST_MONDAY_US = 4 * US_PER_DAY

/** Where windows without an anchor are laid from: midnight UTC at or before an instant, of weeks Monday's. */
function originOf(duration: Duration, at: Instant): Instant {
  const isWeeks = duration.kind === 'calendar' && duration.weeks > 0 && daysOf(duration) % 7 === 0
  const [first, step] = isWeeks ? [FIRST_MONDAY_US, 7 * US_PER_DAY] : [0, US_PER_DAY]
  return exactWindows(instantFromUs(first), step)(at).start
}

function checkedBoundaries({ text }: { readonly text: string }, duration: Duration): LocalBoundaries {
  const boundaries = parseWindowAnchor(text, duration)
  if ('expected' in boundaries)
    throw new TidemarkError('BUG', { what: 'the anchor of WINDOWAGG was checked' })
  return boundaries
}

function checkArguments(args: readonly Argument[]): Complaint | null {
  const [, , window] = args
  const last = args.length - 1
  const anchor = args[last]
  const badUnit = checkUnit(args, 3)
  if (badUnit !== null || window?.kind !== 'duration') return badUnit
  if (anchor?.kind !== 'window-anchor') {
    return checkFixedLength(args, 2, 'a window of fixed length such as 1h or 1d, or an anchor with it')
  }
  const { duration, text } = window
  if ('expected' in parseWindowAnchor(ANY_ANCHOR, duration)) {
    const reason = `expected a window that divides a day or is of one unit such as 8h, 1d or 1mo, or no anchor, found ${text}`
    return { argument: 2, reason }
  }
  const boundaries = parseWindowAnchor(anchor.text, duration)
  if (!('expected' in boundaries)) return null
  return {
    argument: last,
    reason: `expected ${boundaries.expected} for anchor of WINDOWAGG with a window of ${text}, found ${anchor.text}`,
  }
}

/** An anchor of every window that can have one. */
const ANY_ANCHOR = '00:00'
