import { noteServiceNow, ServiceError, send } from './client.ts'
import { type DataPoint, isoOf, type MultiAnswer, type ReadRequest } from './multi.ts'

/** Aggregates of a range, by their names in answers; null where there is none. */
export type Aggregates = Readonly<Record<string, number | string | null>>

/** How long a tag was in each of its states, and in how many stretches, by the state's name. */
export type StateTimes = Readonly<Record<string, { readonly seconds: number; readonly visits: number }>>

export interface Interval {
  readonly from: string
  readonly to: string
  readonly openStart?: boolean
  readonly openEnd?: boolean
  readonly kind?: 'bad' | 'missing'
  readonly aggregates?: Aggregates | readonly Aggregates[]
}

interface RowResult {
  readonly dataPoints?: readonly DataPoint[]
  readonly aggregates?: readonly (Aggregates & { readonly states?: StateTimes | null })[]
  readonly intervals?: readonly Interval[]
}

type RowAnswer = Omit<MultiAnswer, 'results'> & { readonly results: Readonly<Record<string, RowResult>> }

/** A batch of reads, answered in rows, for tables. */
export async function readRows(
  requests: Readonly<Record<string, ReadRequest>>,
  zone: string,
  cancel?: AbortSignal,
): Promise<RowAnswer> {
  const answer = await send<RowAnswer>('POST', 'historian/multi', { timeZone: zone, requests }, cancel)
  noteServiceNow(answer.now)
  return answer
}

const STATISTICS = [
  'MIN',
  'MINTIME',
  'MAX',
  'MAXTIME',
  'TIMEAVG',
  'STDDEV',
  'COUNT',
  'COVERAGE',
  'PERCENTGOOD',
]

export interface Statistics {
  readonly address: string
  readonly aggregates: Aggregates | null
  /** Of a tag with states; null for others. */
  readonly states: StateTimes | null
  readonly error: string
}

/**
 * Statistics of several tags over one range.
 * @param withStates  those of the tags that have states
 */
export async function readStatistics(
  addresses: readonly string[],
  withStates: ReadonlySet<string>,
  from: number,
  to: number,
  zone: string,
  cancel: AbortSignal,
): Promise<readonly Statistics[]> {
  if (addresses.length === 0) return []
  const requests = addresses.map((tag, index) => {
    const aggregates = withStates.has(tag) ? [...STATISTICS, 'STATES'] : STATISTICS
    const details = { from: isoOf(from), to: isoOf(to), aggregates }
    return [String(index), { type: 'AGGREGATED_POINTS', tag, details }]
  })
  const answer = await readRows(Object.fromEntries(requests), zone, cancel)
  return addresses.map((address, index) => {
    const aggregates = answer.results[String(index)]?.aggregates?.[0] ?? null
    const error = answer.errors[String(index)] ?? ''
    return { address, aggregates, states: aggregates?.states ?? null, error }
  })
}

export interface PointPage {
  readonly points: readonly DataPoint[]
  /** Where the list goes on; empty at its end. */
  readonly next: string
  /** What is left out of it, in sentences. */
  readonly warnings: readonly string[]
}

/** A page of raw points. @throws ServiceError with the sentence about the tag */
export async function readPoints(
  tag: string,
  from: number,
  to: number,
  options: {
    readonly maxPoints: number
    readonly cursor?: string
    readonly zone: string
    readonly cancel?: AbortSignal
  },
): Promise<PointPage> {
  const { maxPoints, cursor, zone, cancel } = options
  const details = {
    from: isoOf(from),
    to: isoOf(to),
    maxPoints,
    rightBoundary: 'INCLUDE',
    ...(cursor !== undefined && cursor !== '' && { cursor }),
  }
  const answer = await readRows({ it: { type: 'RAW_POINTS', tag, details } }, zone, cancel)
  const { dataPoints = [] } = resultOf(answer)
  return { points: dataPoints, next: answer.next?.it ?? '', warnings: answer.warnings ?? [] }
}

export interface IntervalWish {
  /** `INTERVALS` of a condition, or `GAPS` of a tag. */
  readonly type: 'INTERVALS' | 'GAPS'
  readonly tag: string
  /** Of gaps. */
  readonly longerThan?: string
  /** The tag whose aggregates each interval gets; empty for none. */
  readonly aggregatesOf?: string
}

export interface IntervalPage {
  readonly intervals: readonly Interval[]
  /** Where the list goes on; empty at its end. */
  readonly next: string
}

/** @param cursor  where the page before this one ended; empty for the first */
export async function readIntervals(
  { type, tag, longerThan, aggregatesOf }: IntervalWish,
  from: number,
  to: number,
  {
    zone,
    cursor = '',
    cancel,
  }: { readonly zone: string; readonly cursor?: string; readonly cancel?: AbortSignal },
): Promise<IntervalPage> {
  const details = {
    from: isoOf(from),
    to: isoOf(to),
    ...(type === 'GAPS' && { longerThan }),
    ...(cursor !== '' && { cursor }),
    ...(type === 'INTERVALS' && aggregatesOf && { aggregatesOf, aggregates: ['MIN', 'TIMEAVG', 'MAX'] }),
  }
  const answer = await readRows({ it: { type, tag, details } }, zone, cancel)
  return { intervals: resultOf(answer).intervals ?? [], next: answer.next?.it ?? '' }
}

function resultOf(answer: RowAnswer): RowResult {
  const error = answer.errors.it
  if (error !== undefined) throw new ServiceError(error, 200, answer.issues ?? [])
  return answer.results.it!
}
