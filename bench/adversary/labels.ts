import type { Attack } from './attack.ts'

/** The default limit of requested points, of which each label has one at least, and of different addresses. */
const POINTS = 100_000
const NAMES = 10_000
/** A little less than the default limit of a body. */
const BODY_BYTES = 8 * 1_048_576 - 1_024
/** Points that a chart of one column requests. */
const PLOT_POINTS = 6
const START = Date.UTC(2026, 0, 1) / 1000

/** What each label reads, another one for each: `at` is an instant in epoch seconds. */
const REQUESTS: Readonly<Record<string, (at: number, i: number) => readonly [tag: string, details: object]>> =
  {
    HISTORICAL_POINT: (at) => ['local/T1', { at }],
    ADJACENT_POINTS: (at) => ['local/T1', { at }],
    POINT_AFTER: (at) => ['local/T1', { at }],
    RAW_POINTS: (at) => ['local/T1', { from: at, to: at + 60, maxPoints: 1 }],
    INTERPOLATED_POINTS: (at) => ['local/T1', { from: at, to: at, count: 1 }],
    AGGREGATED_POINTS: (at) => ['local/T1', { from: at, to: at + 60 }],
    INTERVALS: (at) => ['local/T1', { from: at, to: at + 60, maxIntervals: 1 }],
    GAPS: (at) => ['local/T1', { from: at, to: at + 60, longerThan: '1h', maxIntervals: 1 }],
    PLOT: (at) => ['local/T1', { from: at, to: at + 60, width: 1 }],
    CURRENT_POINT: (_, i) => [`calc/ADD(local/T1, ${i})`, {}],
  }

/**
 * As many labels as a call may have, each with a request of its own: up to the limits of labels, names, points and
 * bytes.
 */
export function labelAttacks(): readonly Attack[] {
  return Object.entries(REQUESTS).map(([type, request]) => {
    const entries: string[] = []
    const most =
      type === 'PLOT' ? Math.floor(POINTS / PLOT_POINTS) : type === 'CURRENT_POINT' ? NAMES : POINTS
    for (let i = 0, bytes = 0; i < most; i++) {
      const [tag, details] = request(START + i, i)
      const entry = `"${i}":${JSON.stringify({ type, tag, details })}`
      bytes += entry.length + 1
      if (bytes > BODY_BYTES) break
      entries.push(entry)
    }
    const body = Buffer.from(`{"requests":{${entries.join()}}}`)
    return { name: `labels/${type}`, calls: [{ method: 'POST', path: '/historian/multi', body }] }
  })
}
