import { monitorEventLoopDelay } from 'node:perf_hooks'
import { AggregatorRegistry, Counter, Gauge, type Metric, Registry } from 'prom-client'
import type { CallRates } from './call-rates.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { KeyGauges } from './key-gauges.ts'
import { Tally, TallyOfTimes, type Times } from './tally.ts'
import type { WorkInHand } from './work.ts'

/** How often the event loop's lag is sampled. Node counts the interval itself into each sample. */
const LAG_SAMPLE_MS = 20

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** A gauge that has a label is not printed before it is set; one without is, as 0. This one is never given. */
const NO_LABELS = ['none'] as const
/** Of the interface; any other text of a client is `other`. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** Of the folders with data. */
export interface DataMeasures {
  readonly freeBytes: number
  readonly usedBytes: number
  /** Seconds since 1970; `null` when none is known. */
  readonly lastBackup: number | null
}

/** What the metrics are read from when they are printed. */
export interface Measured {
  readonly version: string
  readonly work: WorkInHand
  readonly connections: ConnectionLimits
  /** `null` where rates are not limited. */
  readonly rates: CallRates | null
  /** Spans since the start. */
  readonly spans: () => { readonly exported: number; readonly dropped: number }
  readonly keys: KeyGauges
  /** `null` where nothing is kept on this machine, or it cannot be read now. */
  readonly measureData: () => Promise<DataMeasures | null>
  /** Unhandled rejections so far. */
  readonly unhandledRejections: () => number
}

/**
 * Metrics for Prometheus. Every label has few values, all chosen here: routes as they are registered, kinds of
 * historian and never their names, no keys, no tags. docs/http.md lists the names.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #lag: ReturnType<typeof monitorEventLoopDelay>
  readonly #requests = new Tally(
    'tidemark_http_requests_total',
    'Requests answered, by route, method and status; 499 is a client that went away.',
    ['route', 'method', 'status'] as const,
  )
  readonly #seconds = new TallyOfTimes(
    'tidemark_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    ['route', 'method'] as const,
    DURATION_BUCKETS,
  )
  readonly #historianCalls = new Tally(
    'tidemark_historian_calls_total',
    'Calls to historians, by kind of historian, operation and outcome (ok or the kind of error).',
    ['type', 'operation', 'outcome'] as const,
  )
  readonly #historianSeconds = new Tally(
    'tidemark_historian_call_seconds_total',
    'Time spent waiting for historians.',
    ['type', 'operation'] as const,
  )
  readonly #historianPoints = new Tally(
    'tidemark_points_total',
    'Points that historians gave (read), took (written), and left out (too_old).',
    ['type', 'direction'] as const,
  )
  readonly #multiLabels = new Tally(
    'tidemark_multi_labels_total',
    'Labels of multi calls, by how they ended.',
    ['outcome'] as const,
  )

  #labelsEnded: { readonly answered: { value: number }; readonly wrong: { value: number } } | null = null
  /** Rows of the last request: most requests are like it. */
  #lastEnded: {
    readonly route: string | null
    readonly method: string
    readonly status: number
    readonly requests: { value: number }
    readonly times: Times
  } | null = null

  constructor({
    version,
    work,
    connections,
    rates,
    spans,
    keys,
    measureData,
    unhandledRejections,
  }: Measured) {
    const registers = [this.#registry]
    this.#lag = monitorEventLoopDelay({ resolution: LAG_SAMPLE_MS })
    this.#lag.enable()
    for (const tally of [
      this.#requests,
      this.#seconds,
      this.#historianCalls,
      this.#historianSeconds,
      this.#historianPoints,
      this.#multiLabels,
    ]) {
      // Of a metric the registry asks only its name and `get`.
      this.#registry.registerMetric(tally as unknown as Metric)
    }
    const gauge = (name: string, help: string, value: () => number, aggregator: 'sum' | 'min' = 'sum') =>
      new Gauge({
        name,
        help,
        aggregator,
        registers,
        collect() {
          this.set(value())
        },
      })
    gauge('tidemark_calls_in_work', 'Calls that are being worked on.', () => work.calls)
    gauge('tidemark_calls_arriving', 'Calls whose body is still coming.', () => work.arriving)
    gauge('tidemark_connections', 'Open connections.', () => connections.open)
    gauge('tidemark_request_bytes_in_work', 'Bytes of request bodies held.', () => work.bytes)
    gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
    gauge(
      'nodejs_heap_used_bytes',
      'Memory used by JavaScript objects.',
      () => process.memoryUsage().heapUsed,
    )
    gauge(
      'process_start_time_seconds',
      'When the process started.',
      () => performance.timeOrigin / 1_000,
      'min',
    )
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time used, user and system.',
      registers,
      collect() {
        const { user, system } = process.cpuUsage()
        this.reset()
        this.inc((user + system) / 1e6)
      },
    })
    new Counter({
      name: 'tidemark_connections_refused_total',
      help: 'Connections closed at once, beyond the limit of all or of their address.',
      registers,
      collect() {
        this.reset()
        this.inc(connections.refused)
      },
    })
    new Counter({
      name: 'tidemark_calls_rate_limited_total',
      help: 'Calls refused beyond server.callsPerSecond, by what was counted.',
      labelNames: ['by'],
      registers,
      collect() {
        this.reset()
        const { key, address } = rates?.refused ?? { key: 0, address: 0 }
        this.inc({ by: 'key' }, key)
        this.inc({ by: 'address' }, address)
      },
    })
    new Counter({
      name: 'tidemark_spans_total',
      help: 'Spans that were exported, and dropped since they could not be.',
      labelNames: ['outcome'],
      registers,
      collect() {
        this.reset()
        const { exported, dropped } = spans()
        this.inc({ outcome: 'exported' }, exported)
        this.inc({ outcome: 'dropped' }, dropped)
      },
    })
    new Counter({
      name: 'tidemark_unhandled_rejections_total',
      help: 'Errors of asynchronous work that nobody handled, each a bug and logged.',
      registers,
      collect() {
        this.reset()
        this.inc(unhandledRejections())
      },
    })
    const dataGauge = (name: string, help: string, of: (data: DataMeasures) => number | null) =>
      new Gauge({
        name,
        help,
        labelNames: NO_LABELS,
        aggregator: 'max',
        registers,
        async collect() {
          const data = await measureData()
          const value = data === null ? null : of(data)
          this.reset()
          if (value !== null) this.set(value)
        },
      })
    dataGauge('tidemark_data_free_bytes', 'Room on the disk of the data directory.', (data) => data.freeBytes)
    dataGauge('tidemark_data_used_bytes', 'Size of the data on disk.', (data) => data.usedBytes)
    dataGauge(
      'tidemark_last_backup_timestamp_seconds',
      'When the last backup was done; absent when none is known.',
      (data) => data.lastBackup,
    )
    const states = ['usable', 'expired', 'revoked'] as const
    new Gauge({
      name: 'tidemark_keys',
      help: 'API keys, by state.',
      labelNames: ['state'],
      aggregator: 'max',
      registers,
      async collect() {
        const counts = await keys.counts()
        this.reset()
        if (counts !== null) for (const state of states) this.set({ state }, counts[state])
      },
    })
    new Gauge({
      name: 'tidemark_keys_next_expiry_timestamp_seconds',
      help: 'When the next usable API key expires; absent when none does.',
      labelNames: NO_LABELS,
      aggregator: 'min',
      registers,
      async collect() {
        const next = (await keys.counts())?.nextExpiry ?? null
        this.reset()
        if (next !== null) this.set(next)
      },
    })
    const lag = this.#lag
    new Gauge({
      name: 'tidemark_event_loop_lag_seconds',
      help: 'How late the event loop ran since the last scrape.',
      labelNames: ['quantile'],
      aggregator: 'max',
      registers,
      collect() {
        // A histogram that has no sample yet has a maximum of 0 and odd percentiles.
        const late = (ns: number) => Math.max(0, lag.max === 0 ? 0 : ns / 1e9 - LAG_SAMPLE_MS / 1e3)
        for (const quantile of [0.5, 0.9, 0.99]) this.set({ quantile }, late(lag.percentile(quantile * 100)))
        this.set({ quantile: 1 }, late(lag.max))
        lag.reset()
      },
    })
    new Gauge({
      name: 'tidemark_build_info',
      help: 'Version of the program.',
      labelNames: ['version'],
      aggregator: 'first',
      registers,
    }).set({ version }, 1)
  }

  /** @param route as registered, null for an unknown path */
  requestEnded(route: string | null, method: string, status: number, seconds: number): void {
    const last = this.#lastEnded
    if (last === null || last.route !== route || last.method !== method || last.status !== status) {
      const shownRoute = route ?? 'unknown'
      const shownMethod = METHODS.includes(method) ? method : 'other'
      const requests = this.#requests.row(shownRoute, shownMethod, String(status))
      const times = this.#seconds.row(shownRoute, shownMethod)
      this.#lastEnded = { route, method, status, requests, times }
    }
    this.#lastEnded!.requests.value++
    this.#seconds.addTo(this.#lastEnded!.times, seconds)
  }

  /**
   * Counts the calls of an operation of a historian.
   * @param type kind of historian
   * @returns    takes `ok` or a kind of error, and how long the call took
   */
  historianCalls(type: string, operation: string): (outcome: string, seconds: number) => void {
    // Rows are made when they are first needed: what was never called is not printed.
    let ok: { value: number } | null = null
    let time: { value: number } | null = null
    return (outcome, seconds) => {
      if (outcome === 'ok') {
        ok ??= this.#historianCalls.row(type, operation, outcome)
        ok.value++
      } else this.#historianCalls.add(1, type, operation, outcome)
      time ??= this.#historianSeconds.row(type, operation)
      time.value += seconds
    }
  }

  pointsPassed(type: string, direction: 'read' | 'written' | 'too_old', points: number): void {
    if (points > 0) this.#historianPoints.add(points, type, direction)
  }

  multiAnswered(labels: number, invalidLabels: number): void {
    this.#labelsEnded ??= {
      answered: this.#multiLabels.row('answered'),
      wrong: this.#multiLabels.row('wrong'),
    }
    this.#labelsEnded.answered.value += labels - invalidLabels
    this.#labelsEnded.wrong.value += invalidLabels
  }

  /** What prom-client joins with the metrics of other processes. */
  list(): Promise<readonly object[]> {
    return this.#registry.getMetricsAsJSON()
  }

  /**
   * The text that Prometheus scrapes, and its type.
   * @param others  `list` of the other processes that answer at this port
   */
  async print(
    others: readonly (readonly object[])[],
  ): Promise<{ readonly type: string; readonly text: string }> {
    const type = this.#registry.contentType
    if (others.length === 0) return { type, text: await this.#registry.metrics() }
    const all = [await this.list(), ...others] as object[][]
    return { type, text: await AggregatorRegistry.aggregate(all).metrics() }
  }

  close(): void {
    this.#lag.disable()
  }
}
