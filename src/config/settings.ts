import { CALL_LIMITS, defaultsOf, type LimitValues } from '../errors/limits.ts'

/**
 * Everything that can be configured, with all defaults filled in. src/config/load.ts makes it from file and
 * environment.
 */
export interface Settings {
  readonly server: ServerSettings
  /** Folder of embedded historians, and of keys and aliases unless they are in a store. */
  readonly dataDir: string
  /** Where keys and aliases are instead, shared by several processes; `null` for the data directory. */
  readonly store: StoreSettings | null
  /** IANA id: the zone of calls that name none. */
  readonly timeZone: string
  /** Historian of a bare tag name inside a calculation; null when there is none. */
  readonly defaultHistorian: string | null
  readonly limits: LimitSettings
  readonly historians: ReadonlyMap<string, HistorianSettings>
  readonly log: { readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent' }
  /** Where spans go, with the fields of src/tracing/start.ts; `null` where calls are not traced. */
  readonly tracing: TracingSettings | null
  /** Whether the demo plant is served beside the configured historians. */
  readonly demo: boolean
}

export interface ServerSettings {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Processes that answer at the port; with more than 1, one more process makes the changes. */
  readonly workers: number
  /** '' or a path that begins with '/' and does not end with it. */
  readonly basePath: string
  /** Largest body of any request but write/points. */
  readonly bodyLimitBytes: number
  /** Largest body of write/points. */
  readonly writeBodyLimitBytes: number
  readonly maxConcurrentCalls: number
  /** Request bodies held at the same time, in bytes. */
  readonly maxBytesInWork: number
  /** Percent of calls and bytes in work that one key, or one address, may have when no other wants any. */
  readonly callerSharePercent: number
  /** How long nothing may come of a body, or a head or a TLS handshake take. */
  readonly silenceSeconds: number
  /** Connections at a time, in each process; further ones are closed at once. */
  readonly maxConnections: number
  /** Of one address that is no trusted proxy. */
  readonly maxConnectionsPerAddress: number
  /** Calls of one key, and requests without a valid key of one address; `null` for any number. */
  readonly callsPerSecond: number | null
  /** Origins that browsers may call from; '*' for any. */
  readonly corsOrigins: readonly string[]
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Addresses or CIDR ranges of proxies whose X-Forwarded headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly metricsNeedKey: boolean
  /** How long a graceful shutdown waits for accepted calls. */
  readonly shutdownSeconds: number
}

export interface TracingSettings {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly sampleRatio: number
  readonly serviceName: string
}

/**
 * The limits of one call or request (src/errors/limits.ts); each is checked before anything is looked up, fetched or
 * changed.
 */
export type LimitSettings = LimitValues<typeof CALL_LIMITS>

/** A historian as configured; the rest of the fields belong to its driver, whose schema checks them. */
export interface HistorianSettings {
  readonly type: string
  readonly options: Readonly<Record<string, unknown>>
}

/** The store as configured; the rest of the fields belong to its kind, whose schema checks them. */
export interface StoreSettings {
  readonly type: string
  readonly options: Readonly<Record<string, unknown>>
}

export const DEFAULT_LIMITS: LimitSettings = defaultsOf(CALL_LIMITS)
