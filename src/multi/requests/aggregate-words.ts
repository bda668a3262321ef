import { AGGREGATE_NAMES, type AggregateName, FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import type { AskedAggregates } from './asked-aggregates.ts'
import { type Details, detailType, lengthType, listWords, optional } from './detail.ts'

/** The interface's name of the variance. */
const VAR = 'VAR'
/** The one aggregate that is not a number. */
const STATES = 'STATES'

/** What `aggregates` takes, in any case, as messages and the reference list it. */
export const AGGREGATE_WORDS: readonly string[] = [
  ...AGGREGATE_NAMES.map((name) => (name === 'variance' ? VAR : name.toUpperCase())),
  STATES,
]

/** By their names in upper case; the name in answers is taken too. */
const BY_WORD: ReadonlyMap<string, AggregateName> = new Map([
  ...AGGREGATE_NAMES.map((name) => [name.toUpperCase(), name] as const),
  [VAR, 'variance'] as const,
])

const WORDS = detailType({ kind: 'words', words: AGGREGATE_WORDS }, 'an array of texts', (input) =>
  Array.isArray(input) && input.every((entry): entry is string => typeof entry === 'string')
    ? input
    : undefined,
)

export const AGGREGATES = optional(
  'aggregates',
  WORDS,
  'Taken in any case; the first fourteen when left out.',
)
export const PER = optional(
  'per',
  lengthType(
    'a time unit such as 1s, 1min, 1h or 1d',
    'A duration of a fixed length such as `1s`, `1min`, `1h` or `1d`; a number is milliseconds.',
  ),
  'Time unit of the rate that TOTAL adds up; needed with TOTAL.',
)

/** The details `aggregates` and `per`. Throws TidemarkError with the sentence for the label. */
export function readAggregateNames(details: Details): AskedAggregates {
  const words = details.get(AGGREGATES)?.map((text) => text.toUpperCase())
  if (words === undefined)
    return { names: FIRST_AGGREGATE_NAMES, withVar: false, withStates: false, perUs: readPer(details, false) }
  const withStates = words.includes(STATES)
  const asked = new Set(words.filter((word) => word !== STATES).map((word) => BY_WORD.get(word)))
  if (words.length === 0 || asked.has(undefined)) {
    throw details.invalid('aggregates', `an array of at least one of ${listWords(AGGREGATE_WORDS)}`)
  }
  const names = AGGREGATE_NAMES.filter((name) => asked.has(name))
  return { names, withVar: words.includes(VAR), withStates, perUs: readPer(details, asked.has('total')) }
}

/** The time unit of the tag's rate in microseconds; `null` without TOTAL, which alone needs it. */
function readPer(details: Details, withTotal: boolean): number | null {
  const per = details.get(PER)
  if (per === null) {
    if (withTotal) details.missing('per (1s, 1min, 1h or 1d: the time unit of the rate that TOTAL adds up)')
    return null
  }
  if (!withTotal) details.warnUseless(PER, 'it is the time unit of TOTAL, which is not asked for')
  return withTotal ? per : null
}
