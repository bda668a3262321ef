import type { Attack, Call } from './attack.ts'
import {
  ask,
  FROM,
  FURTHER_TYPES,
  LEAVES,
  MOST_CHARACTERS,
  MOST_LEVELS,
  nested,
  TO,
  TYPES,
  WRAPPERS,
  widest,
} from './calculations.ts'
import { START_MS } from './plant.ts'

/** Functions that take turns from level to level. */
const MIXTURES: Readonly<Record<string, readonly string[]>> = {
  ALL: Object.keys(WRAPPERS).filter((name) => name !== 'ADD_TWICE' && name !== 'THRESHOLD_BRANCHES'),
  'SLIDINGAGG-LOWPASS': ['SLIDINGAGG', 'LOWPASS'],
  'SLIDINGAGG_MAX-HIGHPASS': ['SLIDINGAGG_MAX', 'HIGHPASS'],
  'WINDOWAGG-HIGHPASS': ['WINDOWAGG', 'HIGHPASS'],
  'WINDOWAGG-SLIDINGAGG_MAX': ['WINDOWAGG', 'SLIDINGAGG_MAX'],
  'THRESHOLD-SLIDINGAGG_MAX': ['THRESHOLD', 'SLIDINGAGG_MAX'],
  'IFEQUALS-HIGHPASS': ['IFEQUALS', 'HIGHPASS'],
  'TOTALISE-LOWPASS': ['TOTALISE', 'LOWPASS'],
  'TOTALISE-THRESHOLD': ['TOTALISE', 'THRESHOLD'],
  'TOTALISE_DAY-SLIDINGAGG': ['TOTALISE_DAY', 'SLIDINGAGG'],
  'NOBAD-SLIDINGAGG-THRESHOLD': ['NOBAD', 'SLIDINGAGG', 'THRESHOLD'],
  'TIMESHIFT-HIGHPASS': ['TIMESHIFT', 'HIGHPASS'],
  'STEPPEDRAW-THRESHOLD': ['STEPPEDRAW', 'THRESHOLD'],
  'EPOCH_MS-SLIDINGAGG_MAX': ['EPOCH_MS', 'SLIDINGAGG_MAX'],
  'LOWPASS-SLIDINGAGG-WINDOWAGG-HIGHPASS': ['LOWPASS', 'SLIDINGAGG', 'WINDOWAGG', 'HIGHPASS'],
}

/** Windows of another length at each level, none of which fit onto the raw points. */
const UNEVEN: Readonly<Record<string, (inner: string, level: number) => string>> = {
  'uneven/SLIDINGAGG_AVG': (x, level) => `SLIDINGAGG(${x},AVG,${37 * level + 61}s)`,
  'uneven/SLIDINGAGG_MAX': (x, level) => `SLIDINGAGG(${x},MAX,${7_003 * (level + 1)})`,
  'uneven/SLIDINGAGG_DIFF': (x, level) => `SLIDINGAGG(${x},DIFF,${1_009 * (level + 1)})`,
  'uneven/LOWPASS': (x, level) => `LOWPASS(${x},${level + 1}.7)`,
  'uneven/TIMESHIFT': (x, level) => `ADD(${x},TIMESHIFT(local/T1,-${level}001))`,
  'uneven/TOTALISE': (x, level) => `TOTALISE(${x},${level + 1}h,00:0${level % 10}:00,1h)`,
}

function mixed(names: readonly string[], leaf: string, levels: number, shift = 0): string {
  return nested((x, level) => WRAPPERS[names[(level + shift) % names.length]!]!(x), leaf, levels)
}

/** All nine types at once, and all further ones. */
function both(name: string, tag: string): readonly Attack[] {
  return [
    { name: `${name}/nine`, calls: Object.entries(TYPES).map(([type, details]) => ask(type, tag, details)) },
    { name: `${name}/further`, calls: FURTHER_TYPES.map(([type, details]) => ask(type, tag, details)) },
  ]
}

/** A function of many deep calculations, each over a tag of its own. */
function wideAndDeep(name: string, wrapper: string, levels: number): string {
  const parts: string[] = []
  for (let i = 0, length = 0; ; i++) {
    const leaf = i % 2 === 0 ? `siggen/sin${i % 90}@${60 + i}` : `local/T${i % 64}`
    const part = nested(WRAPPERS[wrapper]!, leaf, levels).slice('calc/'.length)
    length += part.length + 1
    if (length > MOST_CHARACTERS - 20) return `calc/${name}(${parts.join()})`
    parts.push(part)
  }
}

const MANY_LABELS = 100
const LABEL_LEVELS = 20

/** One call of many labels, each with a deep calculation of its own. */
function manyLabels(type: string, details: object, name: string, explain = false): Call {
  const requests: Record<string, object> = {}
  for (let i = 0; i < MANY_LABELS; i++) {
    const names = name === 'ALL' ? MIXTURES.ALL! : [name]
    requests[i] = { type, tag: mixed(names, `local/T${i % 64}`, LABEL_LEVELS, i), details }
  }
  const body = JSON.stringify({ now: TO, requests, ...(explain && { explain }) })
  return { method: 'POST', path: '/historian/multi', body: Buffer.from(body) }
}

const INTERPOLATED = { from: FROM, to: TO, count: 100 }
const AT_ONCE = 64

/** Functions inside each other in turns, wide and deep at once, many deep labels, and clients that hang up. */
export function mixedAttacks(): readonly Attack[] {
  const attacks: Attack[] = []
  for (const [name, names] of Object.entries(MIXTURES)) {
    for (const [kind, leaf] of Object.entries(LEAVES))
      attacks.push(...both(`mixed/${name}/${kind}`, mixed(names, leaf, MOST_LEVELS)))
  }
  for (const [name, wrap] of Object.entries(UNEVEN)) {
    for (const [kind, leaf] of Object.entries(LEAVES))
      attacks.push(...both(`mixed/${name}/${kind}`, nested(wrap, leaf, MOST_LEVELS)))
  }
  for (const wrapper of ['LOWPASS', 'SLIDINGAGG', 'THRESHOLD', 'TOTALISE', 'WINDOWAGG'])
    attacks.push(...both(`wide-and-deep/${wrapper}`, wideAndDeep('MEDIAN', wrapper, 10)))
  for (const name of ['ALL', 'HIGHPASS', 'SLIDINGAGG_MAX', 'THRESHOLD', 'WINDOWAGG']) {
    attacks.push(
      {
        name: `deep-labels/${name}/interpolated`,
        calls: [manyLabels('INTERPOLATED_POINTS', INTERPOLATED, name)],
      },
      { name: `deep-labels/${name}/adjacent`, calls: [manyLabels('ADJACENT_POINTS', { at: TO }, name)] },
      {
        name: `deep-labels/${name}/explain`,
        calls: [manyLabels('INTERPOLATED_POINTS', INTERPOLATED, name, true)],
      },
    )
  }
  const longest = { from: '1700-01-01T00:00:00Z', to: '2199-12-31T00:00:00Z' }
  const day = { from: new Date(START_MS).toISOString(), to: new Date(START_MS + 86_400_000).toISOString() }
  const deep = (name: string) => nested(WRAPPERS[name]!, 'local/T1', MOST_LEVELS)
  for (const name of ['ADD', 'HIGHPASS', 'THRESHOLD', 'SLIDINGAGG_MAX', 'TOTALISE'])
    attacks.push({
      name: `plots/10000-columns/${name}`,
      calls: [ask('PLOT', deep(name), { ...day, width: 10_000 })],
    })
  attacks.push({
    name: 'plots/10000-columns/wide-sum',
    calls: [ask('PLOT', widest('ADD'), { from: FROM, to: TO, width: 10_000 })],
  })
  const intervals = { maxIntervals: 99_000 }
  const crossing = 'THRESHOLD(siggen/sin1@2,0,1,0)'
  attacks.push(
    {
      name: 'intervals/43200-crossings',
      calls: [ask('INTERVALS', `calc/${crossing}`, { ...day, ...intervals })],
    },
    {
      name: 'intervals/43200-with-aggregates',
      calls: [
        ask('INTERVALS', `calc/${crossing}`, {
          ...day,
          ...intervals,
          aggregatesOf: 'local/T1',
          aggregates: ['avg', 'median', 'timeAvg', 'increase', 'startBound', 'durationGood'],
        }),
      ],
    },
    {
      name: 'intervals/crossings-of-crossings',
      calls: [
        ask(
          'INTERVALS',
          nested((x, level) => `THRESHOLD(${x},siggen/sin1@${2 + level},1,0)`, 'siggen/sin1@2', 20),
          { from: FROM, to: TO, ...intervals },
        ),
      ],
    },
    {
      name: 'gaps/500-years-of-days',
      calls: [ask('GAPS', 'dates/DAY_UTC', { ...longest, longerThan: '1s', ...intervals })],
    },
    {
      name: 'gaps/500-years-of-filtered-days',
      calls: [ask('GAPS', 'calc/LOWPASS(dates/DAY_UTC,60)', { ...longest, longerThan: '1s', ...intervals })],
    },
    {
      name: 'ranges/days-in-windows',
      calls: ['WINDOWAGG', 'SLIDINGAGG', 'TOTALISE_DAY', 'HIGHPASS', 'THRESHOLD'].map((name) =>
        ask('AGGREGATED_POINTS', nested(WRAPPERS[name]!, 'dates/DAY_UTC', 5), longest),
      ),
    },
    {
      name: 'ranges/signal-in-windows',
      calls: ['WINDOWAGG', 'SLIDINGAGG', 'TOTALISE_DAY', 'HIGHPASS', 'THRESHOLD'].map((name) =>
        ask('AGGREGATED_POINTS', nested(WRAPPERS[name]!, 'siggen/sin1@600', 5), {
          from: '2025-01-01T00:00:00Z',
          to: '2026-01-01T00:00:00Z',
        }),
      ),
    },
  )
  for (const name of ['SLIDINGAGG_MAX', 'HIGHPASS', 'THRESHOLD'])
    attacks.push({
      name: `hung-up/64-at-once/${name}`,
      calls: Array.from({ length: AT_ONCE }, (_, i) => ({
        ...ask('PLOT', mixed([name], `local/T${i}`, MOST_LEVELS), { from: FROM, to: TO, width: 1_000 }),
        hangUpMs: 100 + 20 * i,
      })),
    })
  attacks.push({
    name: 'hung-up/64-at-once/wide-sum',
    calls: Array.from({ length: AT_ONCE }, (_, i) => ({
      ...ask('PLOT', widest('ADD'), { from: FROM, to: TO, width: 1_000 }),
      hangUpMs: 100 + 20 * i,
    })),
  })
  return attacks
}
