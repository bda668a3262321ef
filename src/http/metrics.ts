import { monitorEventLoopDelay } from 'node:perf_hooks'
import { AggregatorRegistry, Counter, Gauge, type Metric, Registry } from 'prom-client'
import { Tally, TallyOfTimes, type Times } from './tally.ts'
import type { WorkInHand } from './work.ts'

/** How often the event loop's lag is sampled. Node counts the interval itself into each sample. */
const LAG_SAMPLE_MS = 20

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS']

/**
 * What Prometheus is told. Every label has few values, all chosen here: routes as they are registered, kinds of historian
 * and never their names, no keys, no tags. docs/http.md lists the names.
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
    'Points that historians gave (read) and took (written).',
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

  constructor(version: string, work: WorkInHand) {
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

  pointsPassed(type: string, direction: 'read' | 'written', points: number): void {
    if (points > 0) this.#historianPoints.add(points, type, direction)
  }

  multiAnswered(labels: number, wrongLabels: number): void {
    this.#labelsEnded ??= {
      answered: this.#multiLabels.row('answered'),
      wrong: this.#multiLabels.row('wrong'),
    }
    this.#labelsEnded.answered.value += labels - wrongLabels
    this.#labelsEnded.wrong.value += wrongLabels
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
