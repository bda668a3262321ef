/** Everything that can be configured, with all defaults filled in. src/config/load.ts makes it from file and environment. */
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
  readonly bodyLimitBytes: number
  readonly maxConcurrentCalls: number
  /** Request bodies held at the same time, in bytes. */
  readonly maxBytesInWork: number
  /** Origins that browsers may call from; '*' for any. */
  readonly corsOrigins: readonly string[]
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** Addresses or CIDR ranges of proxies whose X-Forwarded headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly metricsNeedKey: boolean
  /** How long a graceful shutdown waits for accepted calls. */
  readonly shutdownSeconds: number
}

/** The limits of one call; each is checked before anything is fetched. */
export interface LimitSettings {
  readonly requestedPoints: number
  readonly historianLoad: number
  readonly effectiveTags: number
  readonly aggregateWindows: number
  readonly deadlineSeconds: number
}

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

export const DEFAULT_LIMITS: LimitSettings = {
  requestedPoints: 100_000,
  historianLoad: 500_000,
  effectiveTags: 100,
  aggregateWindows: 100_000,
  deadlineSeconds: 30,
}
