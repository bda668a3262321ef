import type { ErrorCode } from './codes.ts'

/** A limit that the configuration may change. */
export interface Limit {
  readonly default: number
  /** Least and greatest value that the configuration takes; `above` where the least is not included. */
  readonly least: number
  readonly most: number
  /** Whether it takes fractions. */
  readonly isFraction?: true
  /** What it counts, as it reads behind "at most so many". */
  readonly counts: string
  /** The error beyond it, whose sentence is in codes.ts. */
  readonly code: ErrorCode
  /** Its name in the answer of `explain`, for limits that it shows. */
  readonly explain?: 'requestedPoints' | 'effectiveTags' | 'load' | 'aggregateWindows'
}

/** Counts up to here are exact in a double. */
const LARGEST = Number.MAX_SAFE_INTEGER
const MIB = 1_048_576

/**
 * The limits of one call or request, by their names under `limits` in the configuration. The one table of them: the
 * schema of the configuration, the checks, `explain` and docs/limits.md read it.
 */
export const CALL_LIMITS = {
  requestedPoints: {
    default: 100_000,
    least: 1,
    most: LARGEST,
    counts: 'points requested by one multi call',
    code: 'LIMIT_REQUESTED_POINTS',
    explain: 'requestedPoints',
  },
  effectiveTags: {
    default: 100,
    least: 1,
    most: LARGEST,
    counts: 'underlying tags of one multi call',
    code: 'LIMIT_EFFECTIVE_TAGS',
    explain: 'effectiveTags',
  },
  historianLoad: {
    default: 500_000,
    least: 1,
    most: LARGEST,
    counts: 'points that one multi call may fetch from historians',
    code: 'LIMIT_HISTORIAN_LOAD',
    explain: 'load',
  },
  aggregateWindows: {
    default: 100_000,
    least: 1,
    most: LARGEST,
    counts: 'aggregate windows of one multi call',
    code: 'LIMIT_AGGREGATE_WINDOWS',
    explain: 'aggregateWindows',
  },
  labels: {
    default: 100_000,
    least: 1,
    most: 10_000_000,
    counts: 'labels of one multi call',
    code: 'LIMIT_LABELS',
  },
  tagNames: {
    default: 10_000,
    least: 1,
    most: 10_000_000,
    counts: 'distinct tags that one multi call names, in calculations too, before any is looked up',
    code: 'LIMIT_TAG_NAMES',
  },
  tags: {
    default: 200_000,
    least: 1,
    most: 10_000_000,
    counts: 'tags in one request that changes tags or points, or asks for metadata',
    code: 'LIMIT_TAGS',
  },
  ranges: {
    default: 200_000,
    least: 1,
    most: 10_000_000,
    counts: 'ranges in one deletion of points',
    code: 'LIMIT_RANGES',
  },
  deadlineSeconds: {
    default: 30,
    least: 0,
    most: LARGEST,
    isFraction: true,
    counts: 'seconds for a multi call, a write or any other request under /historian',
    code: 'DEADLINE_EXCEEDED',
  },
} as const satisfies Record<string, Limit>

/**
 * What a caller can do about a limit of a call: the end of its sentence, after a semicolon. docs/limits.md lists them.
 */
export const REMEDIES = {
  range: 'label {label} would be allowed from {from} to {to}',
  points: 'at most {most} points in label {label} would be allowed',
  width: 'a width of at most {most} in label {label} would be allowed',
  windows: 'at most {most} windows in label {label} would be allowed',
  median: 'without MEDIAN it would be allowed',
  labels: 'without {labels} it would be allowed',
  calls: 'send its labels in at least {calls} calls',
  tags: 'label {label} alone needs {tags}: leave some of them out',
  calculation: 'label {label} needs them whatever its range is: use shorter windows, or fewer inputs',
} as const

/** The limits of the service as a whole, by their names under `server` in the configuration. */
export const SERVER_LIMITS = {
  writeBodyLimitBytes: {
    default: 64 * MIB,
    least: 1_024,
    most: 1_024 * MIB,
    counts: 'bytes in the body of write/points, after decompression too',
    code: 'BODY_TOO_LARGE',
  },
  bodyLimitBytes: {
    default: 8 * MIB,
    least: 1_024,
    most: 1_024 * MIB,
    counts: 'bytes in the body of any other request, after decompression too',
    code: 'BODY_TOO_LARGE',
  },
  // One key or address alone has 64 of them (callerSharePercent).
  maxConcurrentCalls: {
    default: 85,
    least: 1,
    most: 100_000,
    counts: 'calls in work at a time, in each process',
    code: 'OVERLOADED',
  },
  maxBytesInWork: {
    default: 256 * MIB,
    least: 1_024,
    most: LARGEST,
    counts: 'bytes of request bodies, and of what is made of them, held at a time, in each process',
    code: 'OVERLOADED',
  },
  callerSharePercent: {
    default: 75,
    least: 1,
    most: 100,
    counts:
      'percent of the calls and of the bytes in work for one key, or one address, when no other wants any',
    code: 'OVERLOADED',
  },
  silenceSeconds: {
    default: 15,
    least: 0,
    most: 3_600,
    isFraction: true,
    counts: 'seconds without a byte of a body, and for a TLS handshake or the head of a request',
    code: 'BODY_SILENT',
  },
} as const satisfies Record<string, Limit>

/** Values of all limits of a table, by name. */
export type LimitValues<Table extends Readonly<Record<string, Limit>>> = {
  readonly [Name in keyof Table]: number
}

export function defaultsOf<Table extends Readonly<Record<string, Limit>>>(table: Table): LimitValues<Table> {
  const entries = Object.entries(table).map(([name, limit]) => [name, limit.default])
  return Object.fromEntries(entries) as LimitValues<Table>
}

/** A limit that is part of the interface or of how it is served. */
export interface FixedLimit {
  readonly limit: number
  readonly what: string
  /** What happens beyond. */
  readonly beyond: string
}

export const FIXED_LIMITS = {
  jsonLevels: {
    limit: 1_000,
    what: 'objects and arrays inside of each other, in a body of more than 256 KiB',
    beyond: '`LIMIT_JSON`',
  },
  jsonValues: {
    limit: 1_000_000,
    what: 'objects, arrays and members in a body of more than 256 KiB (but the points of write/points), or one for every 16 bytes where that is more',
    beyond: '`LIMIT_JSON`',
  },
  jsonFields: {
    limit: 10_000,
    what: "fields of one object whose names are not the caller's, in a body of more than 256 KiB",
    beyond: '`LIMIT_JSON`',
  },
  jsonTextBytes: {
    limit: MIB,
    what: 'bytes of one text, name or number, or of blanks in a row, in a body of more than 256 KiB',
    beyond: '`LIMIT_JSON`',
  },
  listedIssues: {
    limit: 1_000,
    what: 'issues of a request that are listed',
    beyond: 'one more, `TOO_MANY_ISSUES`, says how many there are',
  },
  warnings: { limit: 100, what: 'sentences in `warnings`', beyond: 'left out' },
  loggedCauses: {
    limit: 20,
    what: 'distinct causes of failures that the log lists for one call',
    beyond: 'counted in one line',
  },
  searchResults: { limit: 100_000, what: 'tags of one page of a search', beyond: '400; `next` continues' },
  browseResults: {
    limit: 1_000,
    what: 'branches and tags of one page of GET /historian/browse',
    beyond: '400; `next` continues',
  },
  calculationLength: {
    limit: 10_000,
    what: 'characters of a calculation',
    beyond: '`CALCULATION_SYNTAX` of its label',
  },
  callDepth: {
    limit: 50,
    what: 'calls of functions inside each other in a calculation, those of its aliases included',
    beyond: '`CALCULATION_SYNTAX` of its label, or `ALIAS_LIMIT`',
  },
  aliasChain: { limit: 50, what: 'aliases one after the other', beyond: '`ALIAS_LIMIT` of its label' },
  contexts: {
    limit: 256,
    what: 'different ranges at which the parts of one calculation are read',
    beyond: '`LIMIT_CONTEXTS` of its label',
  },
  generatedPoints: {
    limit: 5_000_000,
    what: 'points of siggen and dates that are generated for one label',
    beyond: '`LIMIT_GENERATED_POINTS` of its label',
  },
  passedPoints: {
    limit: 1_000_000,
    what: 'raw points without a value that one search for a good raw point of a calculation passes by',
    beyond: '`LIMIT_PASSED_POINTS` of its label',
  },
  fetchedLoads: {
    limit: 2,
    what: 'times `limits.historianLoad` points that one multi call fetches while it runs',
    beyond: '`LIMIT_FETCHED_POINTS` of the call',
  },
  evaluatedValues: {
    limit: 100_000_000,
    what: 'values that the calculations of one multi call evaluate',
    beyond: '`LIMIT_EVALUATED_VALUES` of the call',
  },
  heldBytes: {
    limit: 200_000_000,
    what: 'bytes, about, of values of deep calculations of one multi call that wait for those of their inputs, or are remembered',
    beyond: '`LIMIT_EVALUATED_VALUES` of the call',
  },
  plotColumns: { limit: 10_000, what: 'columns of a PLOT', beyond: '`INVALID_DETAIL` of its label' },
  comparedThresholds: {
    limit: 1_000,
    what: 'thresholds in `compared` of RAW_POINTS',
    beyond: '`INVALID_DETAIL` of its label',
  },
} as const satisfies Record<string, FixedLimit>
