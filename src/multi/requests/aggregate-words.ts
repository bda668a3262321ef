import { AGGREGATE_NAMES, type AggregateName, FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { rateUs } from '../../time/duration.ts'
import { type Details, listWords } from '../details.ts'
import type { AskedAggregates } from './asked-aggregates.ts'

/** The interface's name of the variance. */
const VAR = 'VAR'
/** What is expected of `per`. */
const TIME_UNIT = 'a time unit such as 1s, 1min, 1h or 1d'
/** The one aggregate that is not a number. */
const STATES = 'STATES'

/** What `aggregates` takes, in any case, as messages and the OpenAPI document list it. */
export const AGGREGATE_WORDS: readonly string[] = [
  ...AGGREGATE_NAMES.map((name) => (name === 'variance' ? VAR : name.toUpperCase())),
  STATES,
]

/** By their names in upper case; the name in answers is taken too. */
const BY_WORD: ReadonlyMap<string, AggregateName> = new Map([
  ...AGGREGATE_NAMES.map((name) => [name.toUpperCase(), name] as const),
  [VAR, 'variance'] as const,
])

/** The details `aggregates` and `per`. Throws TidemarkError with the sentence for the label. */
export function readAggregateNames(details: Details): AskedAggregates {
  const words = details.texts('aggregates')?.map((text) => text.toUpperCase())
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
  if (!details.has('per')) {
    if (withTotal) details.missing('per (1s, 1min, 1h or 1d: the time unit of the rate that TOTAL adds up)')
    return null
  }
  const us = rateUs(details.duration('per', TIME_UNIT).duration)
  if (us === null) throw details.invalid('per', TIME_UNIT)
  if (!withTotal) details.warnUseless('per', 'it is the time unit of TOTAL, which is not asked for')
  return withTotal ? us : null
}
