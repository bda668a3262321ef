import { type Instant, instantFromUs } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import type { ParseOptions } from './parser.ts'
import type { FunctionSignature } from './tree.ts'

/** 2026-01-15T12:00:00Z. */
export const NOW: Instant = instantFromUs(1_768_478_400_000_000)

/** Functions for the grammar's tests that have every kind of parameter between them. */
export const SIGNATURES: ReadonlyMap<string, FunctionSignature> = byName([
  { name: 'ADD', aliases: [], parameters: [{ name: 'input', kind: 'series', repeat: true }] },
  {
    name: 'SUB',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'b', kind: 'series', optional: true, repeat: true },
    ],
  },
  { name: 'NEG', aliases: [], parameters: [{ name: 'x', kind: 'series' }] },
  { name: 'MEAN', aliases: ['AVG'], parameters: [{ name: 'input', kind: 'series', repeat: true }] },
  {
    name: 'ROUND',
    aliases: [],
    parameters: [
      { name: 'x', kind: 'series' },
      { name: 'decimals', kind: 'number' },
    ],
  },
  {
    name: 'IFEQUALS',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'b', kind: 'series' },
      { name: 't', kind: 'series' },
      { name: 'f', kind: 'series' },
      { name: 'precision', kind: 'number', percent: true, optional: true },
    ],
  },
  {
    name: 'IFTAGEXISTS',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series', mayFail: true },
      { name: 'b', kind: 'series' },
    ],
  },
  {
    name: 'TIME_THRESHOLD',
    aliases: [],
    parameters: [
      { name: 'time', kind: 'time' },
      { name: 'before', kind: 'series' },
      { name: 'after', kind: 'series' },
    ],
  },
  {
    name: 'TIMESHIFT',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'offset', kind: 'offset' },
    ],
  },
  {
    name: 'TOTALISE',
    aliases: ['TOTALISE2'],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'window', kind: 'window' },
      { name: 'anchor', kind: 'anchor' },
      { name: 'rate', kind: 'duration' },
    ],
    check: (args) => {
      const rate = args[3]
      if (rate?.kind !== 'duration' || rate.duration.kind === 'exact' || rate.duration.months === 0)
        return null
      return { argument: 3, reason: `expected a rate of fixed length such as 1h or 1d, found ${rate.text}` }
    },
  },
  {
    name: 'SLIDINGAGG',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'op', kind: 'word', words: ['AVG', 'MIN', 'MAX', 'COUNT'] },
      { name: 'window', kind: 'duration' },
    ],
  },
  {
    name: 'WINDOWAGG',
    aliases: [],
    parameters: [
      { name: 'a', kind: 'series' },
      { name: 'op', kind: 'word', words: ['SUM', 'TOTAL'] },
      { name: 'window', kind: 'duration' },
      { name: 'unit', kind: 'duration', onlyWith: 'TOTAL' },
      { name: 'anchor', kind: 'window-anchor', optional: true },
    ],
  },
  { name: 'NOW_MS', aliases: [], parameters: [] },
])

export const OPTIONS: ParseOptions = {
  signatures: SIGNATURES,
  zone: UTC,
  now: NOW,
  defaultHistorian: null,
}

/** The same with `local` as the default historian. */
export const WITH_DEFAULT: ParseOptions = { ...OPTIONS, defaultHistorian: 'local' }

function byName(signatures: readonly FunctionSignature[]): ReadonlyMap<string, FunctionSignature> {
  return new Map(
    signatures.flatMap((signature) =>
      [signature.name, ...signature.aliases].map((name) => [name, signature] as const),
    ),
  )
}
