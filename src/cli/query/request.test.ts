import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REQUEST_TYPES } from '../../multi/requests/table.ts'
import { type RequestOptions, requestOf } from './request.ts'

function asks(options: RequestOptions, type: string, details: object): void {
  assert.deepEqual(requestOf(options, REQUEST_TYPES), { type, details })
}

function refuses(options: RequestOptions, sentence: RegExp): void {
  assert.throws(() => requestOf(options, REQUEST_TYPES), { message: sentence, exitCode: 2 })
}

test('the request follows from the options', () => {
  asks({}, 'CURRENT_POINT', {})
  asks({ at: 'now' }, 'HISTORICAL_POINT', { at: 'now' })
  asks({ last: 10 }, 'RAW_POINTS', { last: 10 })
  asks({ last: 10, to: 'today', order: 'desc' }, 'RAW_POINTS', { to: 'today', last: 10, order: 'desc' })
  asks({ from: 'today' }, 'RAW_POINTS', { from: 'today', to: 'now' })
  asks({ from: 'today', count: 5 }, 'INTERPOLATED_POINTS', { from: 'today', to: 'now', count: 5 })
  const aggregates = ['max', 'min']
  asks({ from: 'today', aggregates }, 'AGGREGATED_POINTS', { from: 'today', to: 'now', aggregates })
  asks({ from: 'today', aggregates: ['ALL'] }, 'AGGREGATED_POINTS', { from: 'today', to: 'now' })
  asks({ from: 'today', interval: '1h', aggregates }, 'MULTIPLE_AGGREGATED_POINTS', {
    from: 'today',
    to: 'now',
    interval: '1h',
    aggregates,
  })
  asks({ from: 'today', width: 800, fallback: 'interpolated' }, 'PLOT', {
    from: 'today',
    to: 'now',
    width: 800,
    fallback: 'interpolated',
  })
  asks({ type: 'point_before', at: 'today' }, 'POINT_BEFORE', { at: 'today' })
})

test('an option that would be ignored is an error that says what it is for', () => {
  refuses({ order: 'desc' }, /^--order would be ignored by CURRENT_POINT: it is for RAW_POINTS/)
  refuses({ from: 'today', count: 3, maxPoints: 5 }, /^--max-points would be ignored by INTERPOLATED_POINTS/)
  refuses({ at: 'now', leftBoundary: 'NEAREST' }, /^--left-boundary would be ignored by HISTORICAL_POINT/)
  refuses({ from: 'today', width: 5, count: 5 }, /^--count would be ignored by PLOT: it is for/)
  refuses(
    { from: 'today', fallback: 'interpolated' },
    /^--fallback would be ignored by RAW_POINTS: it is for PLOT/,
  )
  refuses(
    { from: 'today', aggregates: ['all'], type: 'RAW_POINTS' },
    /^--aggregates would be ignored by RAW_POINTS/,
  )
})

test('options that contradict each other are errors', () => {
  refuses({ at: 'now', from: 'today' }, /--at, or --from/)
  refuses({ last: 5, from: 'today' }, /--last or --from/)
  refuses({ count: 5 }, /^--count needs --from/)
  refuses({ width: 5 }, /^--width needs --from/)
})
