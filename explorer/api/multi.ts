import { type Issue, noteServiceNow, ServiceError, send } from './client.ts'

export interface ReadRequest {
  readonly type: string
  readonly tag: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Points in columns: epoch milliseconds, with a fraction for microseconds. */
export interface Columns {
  readonly timestamps: readonly number[]
  readonly values: readonly (number | null)[]
  /** Left out when all are OK. */
  readonly statuses?: readonly string[]
  /** Names of the states of a tag that has some. */
  readonly states?: readonly (string | null)[]
}

export interface DataPoint {
  readonly timestamp: string
  readonly value: number | null
  readonly status: string
  readonly enumString?: string | null
}

export interface ReadResult {
  readonly dataPoint?: DataPoint
  readonly dataPoints?: Columns
  readonly before?: DataPoint | null
  readonly at?: DataPoint | null
  readonly after?: DataPoint | null
  readonly sampled?: boolean | 'interpolated'
  readonly aggregates?: Readonly<Record<string, readonly (number | null)[]>>
  readonly intervals?: Readonly<Record<string, unknown>>
}

export interface MultiAnswer {
  readonly results: Readonly<Record<string, ReadResult>>
  readonly errors: Readonly<Record<string, string>>
  readonly now: string
  readonly next?: Readonly<Record<string, string>>
  readonly issues?: readonly Issue[]
  /** What the answer leaves out because stored data are damaged. */
  readonly warnings?: readonly string[]
  readonly explain?: Explanation
}

export interface Explanation {
  readonly allowed: boolean
  readonly reasons: readonly string[]
  readonly totals: { readonly requestedPoints: number; readonly effectiveTags: number; readonly load: number }
  readonly limits: { readonly requestedPoints: number; readonly effectiveTags: number; readonly load: number }
}

export interface ReadOptions {
  readonly zone: string
  readonly now?: number
  readonly explain?: boolean
  readonly cancel?: AbortSignal
}

/** A batch of reads, answered in columns. Labels that failed are in `errors`. */
export async function readMulti(
  requests: Readonly<Record<string, ReadRequest>>,
  { zone, now, explain, cancel }: ReadOptions,
): Promise<MultiAnswer> {
  const body = {
    timeZone: zone,
    format: 'columns',
    ...(now !== undefined && { now: isoOf(now) }),
    ...(explain && { explain }),
    requests,
  }
  const answer = await send<MultiAnswer>('POST', 'historian/multi', body, cancel)
  noteServiceNow(answer.now)
  return answer
}

/** One read. @throws ServiceError with the label's sentence */
export async function readOne(request: ReadRequest, options: ReadOptions): Promise<ReadResult> {
  const answer = await readMulti({ it: request }, options)
  const error = answer.errors.it
  if (error !== undefined) throw new ServiceError(error, 200, answer.issues ?? [])
  return answer.results.it!
}

/**
 * The instant that a typed time means, by the service's own rules.
 * @throws ServiceError that says what would be right
 */
export async function readTime(text: string, options: ReadOptions): Promise<number> {
  const details = { at: text }
  const result = await readOne({ type: 'HISTORICAL_POINT', tag: 'constants/1', details }, options)
  return Date.parse(result.dataPoint!.timestamp)
}

/** A time as the interface reads it whatever its size: a small number would be taken for seconds. */
export function isoOf(ms: number): string {
  return new Date(Math.round(ms)).toISOString()
}
