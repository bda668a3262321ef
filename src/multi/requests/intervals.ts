import { type IntervalQuery, type Intervals, intervalsOf } from '../../calc/consumers/intervals.ts'
import { keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { TagStates } from '../../series/optional-metadata.ts'
import { END_INSTANT, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import { lengthDetail, type Rest, rangeDetails } from '../cursor.ts'
import { AGGREGATES, PER, readAggregateNames } from './aggregate-words.ts'
import {
  type AskedAggregates,
  askedAggregates,
  askedNeeds,
  noWindows,
  pickWindows,
} from './asked-aggregates.ts'
import { type Details, LENGTH, optional, TEXT } from './detail.ts'
import type { AnswerContext, Request, RequestSize, Result } from './request.ts'
import { CURSOR, FROM_OR_CURSOR, MAX_GAP, MAX_INTERVALS, readRange, requestType, TO } from './request-type.ts'

/** The details of INTERVALS. */
interface IntervalsDetails extends IntervalQuery {
  /** The tag whose aggregates over each interval are given with it; `null` for none. */
  readonly aggregated: { readonly address: string; readonly asked: AskedAggregates } | null
}

/** What is kept of the intervals of a label until its call ends, some 12 kB, counts as so many evaluated values. */
const KEPT_VALUES = 4_000

/** INTERVALS: when a tag is not 0, and what another tag was like then. */
class IntervalsRequest implements Request {
  readonly range: Request['range']
  readonly otherTag?: string
  readonly #details: IntervalsDetails

  constructor(details: IntervalsDetails) {
    const { from, to, aggregated } = details
    this.range = { from, to }
    this.#details = details
    if (aggregated !== null) this.otherTag = aggregated.address
  }

  /** From its start, where a cursor goes on, too: what a cursor holds cannot be changed. */
  within(range: Request['range']): Request {
    return new IntervalsRequest({ ...this.#details, ...range, resumeAt: null })
  }

  size(): RequestSize {
    const { limit, aggregated } = this.#details
    return { points: limit, windows: aggregated === null ? 0 : limit }
  }

  needs(): readonly Need[] {
    const { from, to, resumeAt } = this.#details
    const start = instantFromUs(Math.max(MIN_INSTANT, (resumeAt ?? from) - 1))
    const end = instantFromUs(Math.min(END_INSTANT, to + 1))
    return [{ kind: 'chunks', from: start, to: end, beyond: 1 }]
  }

  otherNeeds(states: TagStates | null): readonly Need[] {
    const { from, to, resumeAt, limit, aggregated } = this.#details
    if (aggregated === null) return []
    const start = resumeAt ?? from
    // The pauses between the intervals are windows, too.
    const count = 2 * limit - 1
    return askedNeeds(aggregated.asked, { from: start, to, count, key: keyOf('intervals', limit) }, states)
  }

  /** Only whether it is 0 matters: points that do not tell may be left out. */
  operatorFor(operator: Operator): Operator {
    return operator.compared?.([0]) ?? operator
  }

  async answer(operator: Operator, context: AnswerContext): Promise<Result> {
    const { evaluation, other, otherStates } = context
    const { aggregated } = this.#details
    evaluation.charge(KEPT_VALUES)
    const { intervals, more } = await intervalsOf(operator, this.#details, evaluation)
    const last = intervals.to.at(-1)
    const rest = more && last !== undefined ? this.#restFrom(last) : null
    if (aggregated === null) return { kind: 'intervals', intervals, aggregates: null, rest }
    if (other === null) throw new TidemarkError('BUG', { what: 'a second tag has an operator of its own' })
    const edges = edgesOf(intervals)
    const { asked } = aggregated
    const aggregates =
      edges.length === 0
        ? noWindows(asked, otherStates)
        : await pickWindows(
            await askedAggregates(other, edges, asked, otherStates, context),
            indexesOf(intervals, edges),
            evaluation,
          )
    return { kind: 'intervals', intervals, aggregates, rest }
  }

  #restFrom(resumeAt: number): Rest {
    const { mergeUs, minUs } = this.#details
    const lengths = { mergeWithin: lengthDetail(mergeUs), minDuration: lengthDetail(minUs) }
    return { type: 'INTERVALS', details: { ...rangeDetails(this.range), ...lengths }, resumeAt }
  }
}

/** Edges of windows that join, of which some are the intervals. */
function edgesOf({ from, to }: Intervals): Float64Array {
  const edges = new Float64Array(2 * from.length)
  let count = 0
  for (let i = 0; i < from.length; i++) {
    if (count === 0 || edges[count - 1]! < from[i]!) edges[count++] = from[i]!
    edges[count++] = to[i]!
  }
  return edges.subarray(0, count)
}

/** Index of each interval among the windows between edges. */
function indexesOf({ from }: Intervals, edges: Float64Array): Int32Array {
  let window = 0
  return Int32Array.from(from, (start) => {
    while (edges[window]! < start) window++
    return window
  })
}

const MIN_DURATION = optional('minDuration', LENGTH, 'Shorter intervals are left out, unless they are open.')
const MERGE_WITHIN = optional('mergeWithin', LENGTH, 'Pauses of 0 up to this long do not end an interval.')
export const AGGREGATES_OF = optional(
  'aggregatesOf',
  TEXT,
  'A tag or calculation whose aggregates over each interval are given with it.',
)

export const intervals = requestType({
  name: 'INTERVALS',
  details: [
    ...[FROM_OR_CURSOR, TO, MIN_DURATION, MERGE_WITHIN, MAX_INTERVALS, CURSOR],
    ...[AGGREGATES_OF, AGGREGATES, PER, MAX_GAP],
  ],
  result: '`intervals`: [when it was not 0](#intervals), with `next` beside `results`',
  read: (details, _now, resumeAt) =>
    new IntervalsRequest({
      ...readRange(details),
      limit: details.get(MAX_INTERVALS),
      resumeAt,
      mergeUs: details.get(MERGE_WITHIN) ?? 0,
      minUs: details.get(MIN_DURATION) ?? 0,
      aggregated: readAggregated(details),
    }),
  cursorOf: (details) => details.get(CURSOR),
})

function readAggregated(details: Details): IntervalsDetails['aggregated'] {
  const address = details.get(AGGREGATES_OF)
  if (address !== null) return { address, asked: readAggregateNames(details) }
  for (const { name } of [AGGREGATES, PER].filter((one) => details.has(one)))
    throw details.invalid(name, 'aggregatesOf, the tag to be aggregated, beside it')
  return null
}
