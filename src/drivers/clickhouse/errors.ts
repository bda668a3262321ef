import { TidemarkError } from '../../errors/tidemark-error.ts'
import { refusedCredentials, unavailable } from '../../historian/remote/unavailable.ts'

/** A refusal of the server by its number; the text of it stays in the log. */
export class ServerRefusal extends Error {
  /** Number of ClickHouse's own table of errors; 0 where the server gave none. */
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.name = 'ServerRefusal'
    this.code = code
  }
}

/** Numbers of ClickHouse's table of errors that are treated here; the same in all versions. */
const CODES = {
  unknownTable: 60,
  unknownDatabase: 81,
  unknownSetting: 115,
  timeout: 159,
  socketTimeout: 209,
  network: 210,
  tooManyQueries: 202,
  sameQueryRunning: 216,
  tooSlow: 160,
  memory: 241,
  tableReadOnly: 242,
  noSpace: 243,
  tooManyParts: 252,
  allConnectionsFailed: 279,
  tooFewReplicas: 285,
  quorumPending: 286,
  notInQuorum: 289,
  insertUnknown: 319,
  cancelled: 394,
  accessDenied: 497,
  noZooKeeper: 225,
  keeper: 999,
} as const

const CREDENTIALS: ReadonlySet<number> = new Set([192, 193, 194, 516])

const REASONS: ReadonlyMap<number, string> = new Map([
  [CODES.unknownTable, 'a table of it is missing'],
  [CODES.unknownDatabase, 'its database is missing'],
  [CODES.unknownSetting, 'it does not know a setting that it knew before'],
  [CODES.timeout, 'a query took longer than it is given'],
  [CODES.tooSlow, 'a query would take longer than it is given'],
  [CODES.socketTimeout, 'one of its servers does not answer'],
  [CODES.network, 'one of its servers does not answer'],
  [CODES.allConnectionsFailed, 'a shard of its cluster has no server that answers'],
  [CODES.tooManyQueries, 'it has too many queries in work'],
  [CODES.sameQueryRunning, 'something in between sent a query to it twice'],
  [CODES.memory, 'a query needs more memory than the server gives it'],
  [CODES.tableReadOnly, 'a table is read-only while its ZooKeeper cannot be reached'],
  [CODES.noZooKeeper, 'its ZooKeeper cannot be reached'],
  [CODES.keeper, 'its ZooKeeper cannot be reached'],
  [CODES.noSpace, 'its disk is full'],
  [CODES.tooManyParts, 'it is behind with merging what was written'],
  [CODES.tooFewReplicas, 'fewer replicas are up than writeQuorum asks for'],
  [CODES.quorumPending, 'a write before this one has not reached its quorum yet'],
  [CODES.notInQuorum, 'the replica that was asked lags behind'],
  [CODES.insertUnknown, 'it does not know whether the replicas took a write'],
  [CODES.cancelled, 'the query was stopped at the server'],
  [CODES.accessDenied, 'its user may not do this'],
])

/** Refusals that another try, or another server of the cluster, may not meet. */
const TRANSIENT: ReadonlySet<number> = new Set<number>([
  CODES.socketTimeout,
  CODES.network,
  CODES.allConnectionsFailed,
  CODES.tooManyQueries,
  CODES.sameQueryRunning,
  CODES.tooManyParts,
  CODES.tableReadOnly,
  CODES.noZooKeeper,
  CODES.keeper,
  CODES.quorumPending,
  CODES.notInQuorum,
])

/** The refusal that an answer's text tells of. */
export function refusalOf(text: string): ServerRefusal {
  const [, code] = /Code: (\d{1,5})/.exec(text) ?? []
  return new ServerRefusal(code === undefined ? 0 : Number(code), text.slice(0, 4_000))
}

/** The refusal as the error that Tidemark reports; what the server wrote goes into `cause` only. */
export function refused(historian: string, refusal: ServerRefusal): TidemarkError {
  if (CREDENTIALS.has(refusal.code)) return refusedCredentials(historian, 'user and password', refusal)
  const reason = REASONS.get(refusal.code) ?? `it refused a query (ClickHouse error ${refusal.code})`
  return unavailable(historian, reason, refusal)
}

/** The server's refusal inside an error; `null` when the server did not answer, or Tidemark refused. */
export function refusalIn(error: unknown): ServerRefusal | null {
  const { cause } = error as { cause?: unknown }
  return cause instanceof ServerRefusal ? cause : null
}

export function isTransientRefusal(error: unknown): boolean {
  const refusal = refusalIn(error)
  return refusal !== null && TRANSIENT.has(refusal.code)
}

/** Whether tables or settings that were there are not any more, so that they are looked at anew. */
export function isOutdated(error: unknown): boolean {
  const code = refusalIn(error)?.code
  return code === CODES.unknownTable || code === CODES.unknownDatabase || code === CODES.unknownSetting
}

export function isRefusedLogin(error: unknown): boolean {
  const refusal = refusalIn(error)
  return refusal !== null && CREDENTIALS.has(refusal.code)
}

/**
 * Whether the answer to a change says for certain that nothing of it was taken. Only ClickHouse's own errors do: what
 * has no number of its table may come from something in between, such as a load balancer that did not wait for the
 * server.
 * @param isWhole whether the server takes all of the change or refuses it
 */
export function tookNothing(error: unknown, isWhole: boolean): boolean {
  const refusal = refusalIn(error)
  if (refusal === null || refusal.code === 0 || UNSURE.has(refusal.code)) return false
  return isWhole || CLEAN.has(refusal.code)
}

/** Refusals that may come when the work was done: it took too long, was stopped, or another request does the same. */
const UNSURE: ReadonlySet<number> = new Set<number>([
  CODES.timeout,
  CODES.socketTimeout,
  CODES.network,
  CODES.sameQueryRunning,
  CODES.insertUnknown,
  CODES.cancelled,
])

const CLEAN: ReadonlySet<number> = new Set<number>([
  ...CREDENTIALS,
  CODES.unknownTable,
  CODES.unknownDatabase,
  CODES.unknownSetting,
  CODES.tooManyQueries,
  CODES.accessDenied,
])

/** A change of a historian that is configured read-only. Callers ask `capabilities` first. */
export function readOnly(historian: string, operation: string): TidemarkError {
  return new TidemarkError('NOT_SUPPORTED', { historian, operation })
}
