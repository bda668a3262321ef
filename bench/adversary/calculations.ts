import { AGGREGATE_NAMES } from '../../src/series/aggregate-names.ts'
import type { Attack, Call } from './attack.ts'
import { START_MS } from './plant.ts'

/** As deep as the grammar takes calls, and as long as it takes a text. */
export const MOST_LEVELS = 50
export const MOST_CHARACTERS = 10_000

/** One level around a calculation. */
export const WRAPPERS: Readonly<Record<string, (inner: string) => string>> = {
  ADD: (x) => `ADD(${x},1)`,
  ADD_TWICE: (x) => `ADD(${x},${x})`,
  THRESHOLD: (x) => `THRESHOLD(${x},0,1,0)`,
  THRESHOLD_BRANCHES: (x) => `THRESHOLD(1,0,${x},${x})`,
  IFEQUALS: (x) => `IFEQUALS(${x},1,2,3)`,
  LOWPASS: (x) => `LOWPASS(${x},60)`,
  HIGHPASS: (x) => `HIGHPASS(${x},60)`,
  EPOCH_MS: (x) => `EPOCH_MS(${x})`,
  TIMESHIFT: (x) => `TIMESHIFT(${x},-1h)`,
  POINTINTIME: (x) => `POINTINTIME(${x},yesterday)`,
  NOBAD: (x) => `NOBAD(${x})`,
  STEPPEDRAW: (x) => `STEPPEDRAW(${x})`,
  TOTALISE: (x) => `TOTALISE(${x},1h,BEGIN_DAY,1h)`,
  TOTALISE_DAY: (x) => `TOTALISE(${x},DAY,BEGIN_DAY,1h)`,
  TOTALISERAW: (x) => `TOTALISERAW(${x},DAY,BEGIN_DAY,1h)`,
  SLIDINGAGG: (x) => `SLIDINGAGG(${x},DIFF,1h)`,
  SLIDINGAGG_MAX: (x) => `SLIDINGAGG(${x},MAX,7m)`,
  WINDOWAGG: (x) => `WINDOWAGG(${x},AVG,1h)`,
}

export const LEAVES: Readonly<Record<string, string>> = {
  siggen: 'siggen/sin1@60',
  dates: 'dates/DAY_UTC',
  stored: 'local/T1',
}

export const FROM = new Date(START_MS + 3_600_000).toISOString()
export const TO = new Date(START_MS + 5 * 3_600_000).toISOString()

/** Each request type over a moderate range. */
export const TYPES: Readonly<Record<string, object>> = {
  CURRENT_POINT: {},
  HISTORICAL_POINT: { at: TO },
  INTERPOLATED_POINTS: { from: FROM, to: TO, count: 1_000 },
  RAW_POINTS: { from: FROM, to: TO, maxPoints: 1_000 },
  POINT_BEFORE: { at: TO },
  POINT_AFTER_OR_AT: { at: FROM },
  ADJACENT_POINTS: { at: TO },
  AGGREGATED_POINTS: { from: FROM, to: TO },
  MULTIPLE_AGGREGATED_POINTS: { from: FROM, to: TO, count: 100 },
}

/** What came later: intervals, charts and aggregates that need more of the signal than its integral. */
export const FURTHER_TYPES: readonly (readonly [type: string, details: object])[] = [
  ['INTERVALS', { from: FROM, to: TO }],
  ['INTERVALS', { from: FROM, to: TO, aggregatesOf: 'local/T2', aggregates: ['timeAvg', 'startBound'] }],
  ['GAPS', { from: FROM, to: TO, longerThan: '1s' }],
  ['PLOT', { from: FROM, to: TO, width: 1_000 }],
  [
    'MULTIPLE_AGGREGATED_POINTS',
    {
      from: FROM,
      to: TO,
      count: 100,
      aggregates: ['startBound', 'increase', 'minTime', 'durationZero', 'median'],
    },
  ],
]

/** Every one but the median, for which all points are read. */
const ALL_AGGREGATES = AGGREGATE_NAMES.filter((name) => name !== 'median')

export function ask(type: string, tag: string, details: object): Call {
  const body = JSON.stringify({ now: TO, requests: { a: { type, tag, details } } })
  return { method: 'POST', path: '/historian/multi', body: Buffer.from(body) }
}

/** A leaf with so many levels around it, as far as the grammar takes them. */
export function nested(wrap: (inner: string, level: number) => string, leaf: string, levels: number): string {
  let text = leaf
  for (let level = 0; level < levels; level++) {
    const next = wrap(text, level)
    if (next.length > MOST_CHARACTERS - 5) break
    text = next
  }
  return `calc/${text}`
}

export function widest(name: string): string {
  const parts: string[] = []
  for (let length = 0, i = 0; length < MOST_CHARACTERS - 40; i++) {
    const part = i % 2 === 0 ? `siggen/sin${i % 90}@${60 + i}` : `local/T${i % 64}`
    parts.push(part)
    length += part.length + 1
  }
  return `calc/${name}(${parts.join()})`
}

/**
 * Every function to the limit of the grammar over every kind of leaf; all request types at once, each in a call of its
 * own.
 */
export function calculationAttacks(): readonly Attack[] {
  const attacks: Attack[] = []
  for (const [name, wrap] of Object.entries(WRAPPERS)) {
    for (const [kind, leaf] of Object.entries(LEAVES)) {
      const tag = nested(wrap, leaf, MOST_LEVELS)
      const calls = Object.entries(TYPES).map(([type, details]) => ask(type, tag, details))
      attacks.push({ name: `nested/${name}/${kind}`, calls })
      const furtherCalls = FURTHER_TYPES.map(([type, details]) => ask(type, tag, details))
      attacks.push({ name: `further/${name}/${kind}`, calls: furtherCalls })
    }
  }
  for (const name of ['ADD', 'MEDIAN']) {
    const calls = Object.entries(TYPES).map(([type, details]) => ask(type, widest(name), details))
    attacks.push({ name: `wide/${name}`, calls })
    const furtherCalls = FURTHER_TYPES.map(([type, details]) => ask(type, widest(name), details))
    attacks.push({ name: `further-wide/${name}`, calls: furtherCalls })
  }
  const year = { from: '2025-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }
  const longest = { from: '1700-01-01T00:00:00Z', to: '2199-12-31T00:00:00Z' }
  const signal = 'siggen/sin1@60'
  attacks.push(
    {
      name: 'grids/100000-points-of-a-signal',
      calls: [ask('INTERPOLATED_POINTS', signal, { ...longest, count: 100_000 })],
    },
    {
      name: 'grids/100000-windows-of-a-signal',
      calls: [ask('MULTIPLE_AGGREGATED_POINTS', signal, { ...year, count: 100_000 })],
    },
    {
      name: 'grids/100000-windows-of-a-stored-tag',
      calls: [ask('MULTIPLE_AGGREGATED_POINTS', 'local/T1', { ...year, count: 100_000 })],
    },
    ...['siggen/sin1@60', 'local/T1', 'calc/HIGHPASS(local/T1,60)', 'constants/1'].map((tag) => ({
      name: `grids/100000-windows-of-all-aggregates/${tag}`,
      calls: [
        ask('MULTIPLE_AGGREGATED_POINTS', tag, {
          ...(tag === 'local/T1' ? year : { from: FROM, to: TO }),
          count: 100_000,
          aggregates: ALL_AGGREGATES,
          per: '1h',
        }),
      ],
    })),
    {
      name: 'grids/100000-windows-of-50-ms',
      calls: [
        ask('MULTIPLE_AGGREGATED_POINTS', 'local/T1', {
          from: FROM,
          to: FROM.replace('.000Z', '.050Z'),
          count: 100_000,
          aggregates: ALL_AGGREGATES,
          per: '1h',
        }),
      ],
    },
    {
      name: 'grids/100000-bounds-of-a-stored-tag',
      calls: [
        ask('MULTIPLE_AGGREGATED_POINTS', 'local/T1', {
          ...year,
          count: 100_000,
          aggregates: ['startBound'],
        }),
      ],
    },
    {
      name: 'grids/50000-bounds-of-a-wide-sum',
      calls: [
        ask('MULTIPLE_AGGREGATED_POINTS', widest('ADD'), {
          from: FROM,
          to: new Date(START_MS + 3_600_000 + 60_000).toISOString(),
          count: 50_000,
          aggregates: ['startBound'],
        }),
      ],
    },
    { name: 'ranges/500-years-of-a-second', calls: [ask('AGGREGATED_POINTS', 'siggen/sin1@1', longest)] },
    {
      name: 'ranges/500-years-of-days',
      calls: [ask('RAW_POINTS', 'dates/DAY_UTC', { ...longest, maxPoints: 100_000 })],
    },
    {
      name: '64-at-once/SLIDINGAGG',
      calls: Array.from({ length: 64 }, () =>
        ask('HISTORICAL_POINT', nested(WRAPPERS.SLIDINGAGG!, 'siggen/sin1@60', 3), { at: TO }),
      ),
    },
    {
      name: '64-at-once/100000-interpolated-points',
      calls: Array.from({ length: 64 }, () =>
        ask('INTERPOLATED_POINTS', 'local/T1', { from: FROM, to: TO, count: 100_000 }),
      ),
    },
  )
  return attacks
}
