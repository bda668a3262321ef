import type { Logger } from 'pino'
import type { AliasStore } from '../aliases/store.ts'
import type { AliasView } from '../aliases/view.ts'
import type { KeyStore } from '../config/keys.ts'
import type { Settings } from '../config/settings.ts'
import type { HistorianRegistry, HistorianView } from '../historian/registry.ts'
import type { QueryMeter } from '../historian/remote/meter.ts'
import type { Instant } from '../time/instant.ts'
import type { Tracing } from '../tracing/start.ts'
import type { HealthChecks } from './health.ts'
import type { HistorianMetrics } from './historian-metrics.ts'
import type { DataMeasures, Metrics } from './metrics.ts'

/** What the HTTP service is made of; src/main.ts puts it together. */
export interface Services {
  readonly settings: Settings
  /** Closed by the service when it shuts down, after the last accepted call has ended. */
  readonly historians: HistorianRegistry
  readonly keys: KeyStore
  readonly aliases: AliasStore
  /**
   * Rejects when the store that keys and aliases are shared in cannot be asked; left out where they are in the data
   * directory.
   */
  readonly checkStore?: () => Promise<void>
  /** Version of the program, for the reference and the metrics. */
  readonly version: string
  /** Wall-clock time; read once per call. */
  readonly clock: () => Instant
  readonly log: Logger
  /** Metrics of the other processes that answer at this port, as prom-client has them; left out when there are none. */
  readonly otherMetrics?: () => Promise<readonly (readonly object[])[]>
  /** Unhandled rejections so far; left out where they are not counted. */
  readonly unhandledRejections?: () => number
  /** Measures of the folders with data; left out where there are none. */
  readonly measureData?: () => Promise<DataMeasures | null>
  /** Spans of the calls; left out where they are not traced. */
  readonly tracing?: Tracing
  /** What each historian's server was sent, by the historian's name; left out where nothing counts it. */
  readonly meters?: ReadonlyMap<string, QueryMeter>
}

/** What a route is made from. */
export interface Parts extends Services {
  readonly metrics: Metrics
  readonly historianMetrics: HistorianMetrics
  readonly checks: HealthChecks
  /** The aliases of a caller who sees these historians. */
  readonly aliasesFor: (historians: HistorianView) => AliasView
  /** The OpenAPI document of all routes. */
  readonly document: () => object
}
