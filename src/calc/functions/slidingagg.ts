import { SLIDING_OPS, type SlidingOp, slidingOp } from '../operators/rolling/ops.ts'
import { RollingOperator } from '../operators/rolling/rolling.ts'
import { RollingWindow } from '../operators/rolling/window.ts'
import { defineFunction, seriesParameter } from './define.ts'
import { checkUnit, UNIT_PARAMETER, unitUsOf } from './fixed-length.ts'

export const slidingagg = defineFunction({
  name: 'SLIDINGAGG',
  aliases: [],
  section: 'windows',
  parameters: [
    seriesParameter('input'),
    { name: 'op', kind: 'word', words: Object.keys(SLIDING_OPS) },
    { name: 'window', kind: 'duration' },
    UNIT_PARAMETER,
  ],
  check: (args) => checkUnit(args, 3),
  summary: 'Aggregate of the input over the window (t - window, t] at every t.',
  details: [
    'AVG is the time-weighted mean of the signal over the part of the window where it has a value. MIN and MAX are of the signal, its values at both ends of the window included. COUNT, NUMGOOD and NUMBAD count the raw points in the window; SUM, STDDEV and VAR are of the good ones (sample deviation and variance, 0 of one point). DIFF is the value at t minus the value at t - window. TOTAL is the integral of the signal over the part of the window where it has a value, divided by the unit (`1h` for a rate per hour); 0 where the signal has only just begun.',
    "Days, weeks, months and years are steps on the calendar of the call's zone. A window that begins before the data covers the part that has some.",
  ].join('\n\n'),
  rawTimes: "Its input's raw timestamps.",
  stepped: 'Never.',
  nulls: 'Stretches without a value are left out; null where nothing is left, counts 0.',
  cost: 'The points of its input from the start of the first window on, or two for each time plus 2 where the historian aggregates.',
  examples: [
    { calculation: 'SLIDINGAGG(5, AVG, 1h)', value: 5 },
    { calculation: 'SLIDINGAGG(5, COUNT, 1h)', value: 0 },
    { calculation: 'SLIDINGAGG(dates/DAY_OF_MONTH, MAX, 7d)', at: '2026-02-03T12:00:00Z', value: 31 },
    { calculation: 'SLIDINGAGG(dates/DAY_OF_MONTH, SUM, 3d)', at: '2026-02-03T12:00:00Z', value: 6 },
    { calculation: 'SLIDINGAGG(dates/DAY_OF_YEAR, DIFF, 1w)', at: '2026-02-03T12:00:00Z', value: 7 },
    { calculation: 'SLIDINGAGG(5, TOTAL, 8h, 1h)', value: 40 },
    { calculation: 'SLIDINGAGG(constants/empty, AVG, 1h)', value: null },
  ],
  source: 'docs/calculations.md#slidingagg',
  build: (args, context) => {
    const { duration, text } = args.get('window', 'duration')
    const op = slidingOp(args.get('op', 'word').word as SlidingOp, unitUsOf(args))
    const window = RollingWindow.trailing(duration, text, context.zone)
    return new RollingOperator(
      args.series('input', window.contextOf(context)),
      { op, window, isTotal: false, fromRaw: false },
      context,
    )
  },
})
