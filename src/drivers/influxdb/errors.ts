import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Attempt } from '../../historian/remote/change.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'

/**
 * A change of a historian that is configured read-only, or that this layout does not allow. Callers ask `capabilities`
 * first.
 */
export function notSupported(historian: string, operation: string): TidemarkError {
  return new TidemarkError('NOT_SUPPORTED', { historian, operation })
}

/** A name that InfluxDB cannot hold. @param problem in words, see seriesProblem */
export function nameRefused(historian: string, tag: string, problem: string): TidemarkError {
  const address = `${historian}/${tag}`
  return new TidemarkError(
    'HISTORIAN_REFUSED',
    { historian, reason: `${address} cannot be a tag of it: ${problem}` },
    { place: { tag: address } },
  )
}

/** What InfluxDB said when it refused a statement or a write; only the log sees its own words. */
export class ServerRefusal extends Error {
  /** Of the whole answer; 200 for a statement that failed inside of one. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message.slice(0, MAX_MESSAGE))
    this.name = 'ServerRefusal'
    this.status = status
  }
}

const MAX_MESSAGE = 2_000

/** A query that InfluxDB did not answer. */
export function queryRefused(historian: string, refusal: ServerRefusal): TidemarkError {
  const { message, status } = refusal
  const limit = LIMITS.find((pattern) => pattern.test(message))
  if (limit !== undefined) {
    return new TidemarkError(
      'HISTORIAN_LIMIT',
      { historian, reason: message.match(limit)![0] },
      { cause: refusal },
    )
  }
  return unavailable(historian, reasonOf(message, status), refusal)
}

/** A body of points that InfluxDB answered with an error; the attempt is notified of what that says of the points. */
export function writeRefused(
  historian: string,
  refusal: ServerRefusal,
  attempt: Pick<Attempt, 'refused' | 'takenInPart'>,
): TidemarkError {
  const { message, status } = refusal
  const found = WRITE_REASONS.map((pattern) => message.match(pattern)?.[0]).find((each) => each !== undefined)
  const reason = found ?? reasonOf(message, status)
  // What it says of a body of which a part was taken, whatever the part is.
  if (message.startsWith('partial write')) {
    attempt.takenInPart()
    attempt.refused()
    return new TidemarkError('WRITE_PARTIAL', { historian, reason }, { cause: refusal })
  }
  // Of other errors of its own it does not say what was written before.
  const isCertain = status < 500 || /not found/.test(message)
  if (isCertain) attempt.refused()
  return isCertain && status !== 401 && status !== 403 && status !== 404
    ? new TidemarkError('WRITE_FAILED', { historian, reason }, { cause: refusal })
    : unavailable(historian, reason, refusal)
}

/** Limits of the server's configuration, as it words them. */
const LIMITS = [
  /max-select-(?:series|point|buckets)[^"]{0,100}/,
  /max-concurrent-queries[^"]{0,100}/,
  /query-timeout limit exceeded/,
]

/** What InfluxDB says about points that it leaves out, without the points themselves. */
const WRITE_REASONS = [
  /field type conflict: input field "[^"\n]{1,200}" on measurement "[^"\n]{1,200}" is type \w+, already exists as type \w+/,
  /points beyond retention policy/,
  /max-(?:values-per-tag|series-per-database) limit exceeded/,
  /max key length exceeded/,
  /cache-max-memory-size exceeded/,
]

function reasonOf(message: string, status: number): string {
  if (/database not found/.test(message)) return 'it has no database of the configured name'
  if (/retention policy not found/.test(message)) return 'it has no retention policy of the configured name'
  if (status === 401 || /authorization failed|unable to parse authentication/.test(message)) {
    return 'it refused the credentials'
  }
  if (status === 403 || /not authorized/.test(message)) return 'its user may not do this'
  if (status === 413) return 'the request is too large for it'
  if (/^engine is closed|shutting down/.test(message)) return 'it is shutting down'
  if (status === 200 || status === 400) return 'it refused a statement; the service log says why'
  return `it answered with status ${status}`
}
