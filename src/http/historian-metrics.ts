import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { untilAborted, withDeadline } from '../historian/deadline.ts'
import type { HistorianMeasures } from '../historian/measures.ts'
import type { HealthChecks } from './health.ts'
import { isOfHistorian } from './write-failures.ts'

/** How the values of several processes, and of historians that may not be named, are joined. */
type Join = 'sum' | 'min' | 'max'

/** A metric by historian. Plain data, for other processes. */
export interface HistorianFamily {
  readonly kind: 'by-historian'
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  readonly join: Join
  readonly values: readonly HistorianValue[]
}

interface HistorianValue {
  readonly historian: string
  readonly type: string
  /** A label more, of few values; left out where there is none. */
  readonly operation?: string
  /** The same. */
  readonly reason?: string
  readonly value: number
}

/** A historian that does not give its measures in this time has none in this scrape. */
const MEASURE_SECONDS = 2

interface Measured {
  readonly name: string
  readonly help: string
  /** A gauge when left out. */
  readonly type?: HistorianFamily['type']
  readonly join: Join
  /** Value of the label of this name; several of a metric stand one after the other. */
  readonly reason?: string
  readonly of: (measures: HistorianMeasures) => number | null
}

const isPaused =
  (reason: 'clock' | 'error') =>
  ({ retention }: HistorianMeasures) =>
    retention === null ? null : Number(retention.paused === reason)

const PAUSED = {
  name: 'tidemark_historian_retention_paused',
  help: 'Whether watermarks of retention stand still, by the reason: the clock jumped, or they cannot be moved.',
  join: 'max',
} as const

const MEASURED: readonly Measured[] = [
  {
    name: 'tidemark_historian_journal_points',
    help: 'Points that are in the journal and not yet in files of their own.',
    join: 'max',
    of: ({ journalPoints }) => journalPoints,
  },
  {
    name: 'tidemark_historian_oldest_point_timestamp_seconds',
    help: 'Timestamp of the oldest point.',
    join: 'min',
    of: ({ oldest }) => (oldest === null ? null : oldest / 1e6),
  },
  {
    name: 'tidemark_historian_newest_point_timestamp_seconds',
    help: 'Timestamp of the newest point.',
    join: 'max',
    of: ({ newest }) => (newest === null ? null : newest / 1e6),
  },
  {
    name: 'tidemark_historian_archive_lag_seconds',
    help: 'Changes may be that are so old and not archived, counted from the start of the service at most.',
    join: 'max',
    of: ({ archiveLagSeconds }) => archiveLagSeconds,
  },
  {
    name: 'tidemark_historian_retention_watermark_timestamp_seconds',
    help: 'Latest watermark of the rules of retention: points up to it are gone.',
    join: 'max',
    of: ({ retention }) => (retention?.watermark == null ? null : retention.watermark / 1e6),
  },
  { ...PAUSED, reason: 'clock', of: isPaused('clock') },
  { ...PAUSED, reason: 'error', of: isPaused('error') },
  {
    name: 'tidemark_historian_retention_trimmed_files_total',
    help: 'Files that were written anew, or went, as much of them was behind watermarks.',
    type: 'counter',
    join: 'max',
    of: ({ retention }) => retention?.trimmedFiles ?? null,
  },
  {
    name: 'tidemark_historian_retention_removed_points_total',
    help: 'Points that these files had and those in their place have not.',
    type: 'counter',
    join: 'max',
    of: ({ retention }) => retention?.removedPoints ?? null,
  },
]

/** What is measured of each historian by its name: whether it is up, its failures, and what it reports of itself. */
export class HistorianMetrics {
  readonly #historians: () => readonly Historian[]
  readonly #checks: HealthChecks
  readonly #failures = new Map<string, Map<string, number>>()

  constructor(historians: () => readonly Historian[], checks: HealthChecks) {
    this.#historians = historians
    this.#checks = checks
  }

  /** A call of a historian failed, whether or not it reached its server. */
  callFailed(historian: string, operation: string, error: unknown): void {
    if (!(error instanceof TidemarkError) || !isOfHistorian(error)) return
    const counts = this.#failures.getOrInsertComputed(historian, () => new Map<string, number>())
    counts.set(operation, (counts.get(operation) ?? 0) + 1)
  }

  /** What this process knows. */
  async list(): Promise<readonly HistorianFamily[]> {
    const up: HistorianValue[] = []
    const writable: HistorianValue[] = []
    const failures: HistorianValue[] = []
    const measured = await Promise.all(
      this.#historians().map(async (historian) => {
        const { name, type, capabilities } = historian
        const [{ state }, measures] = await Promise.all([this.#checks.of(historian), measuresOf(historian)])
        up.push({ historian: name, type, value: state === 'down' ? 0 : 1 })
        if (capabilities.write) writable.push({ historian: name, type, value: state === 'up' ? 1 : 0 })
        for (const [operation, value] of this.#failures.get(name) ?? [])
          failures.push({ historian: name, type, operation, value })
        return { historian: name, type, measures }
      }),
    )
    const kind = 'by-historian'
    return [
      {
        kind,
        name: 'tidemark_historian_up',
        help: 'Whether the historian answers reads.',
        type: 'gauge',
        join: 'min',
        values: up,
      },
      {
        kind,
        name: 'tidemark_historian_takes_changes',
        help: 'Whether changes of a writable historian succeed, as far as is known.',
        type: 'gauge',
        join: 'min',
        values: writable,
      },
      {
        kind,
        name: 'tidemark_historian_failures_total',
        help: 'Calls that the historian failed, connections that were refused among them.',
        type: 'counter',
        join: 'sum',
        values: failures,
      },
      ...MEASURED.map(({ name, help, type: family = 'gauge', join, reason, of }): HistorianFamily => {
        const values = measured.flatMap(({ historian, type, measures }) => {
          const value = measures === null ? null : of(measures)
          const label = reason === undefined ? {} : { reason }
          return value === null ? [] : [{ historian, type, ...label, value }]
        })
        return { kind, name, help, type: family, join, values }
      }),
    ]
  }
}

async function measuresOf(historian: Historian): Promise<HistorianMeasures | null> {
  if (historian.measure === undefined) return null
  const deadline = withDeadline(new AbortController().signal, MEASURE_SECONDS)
  try {
    return await untilAborted(deadline.signal, () => historian.measure!({ signal: deadline.signal }))
  } catch {
    return null
  } finally {
    deadline.done()
  }
}

/** Takes the metrics by historian out of what processes gave. */
export function splitFamilies(processes: readonly (readonly object[])[]): {
  readonly metrics: readonly (readonly object[])[]
  readonly families: readonly HistorianFamily[]
} {
  return {
    metrics: processes.map((metrics) => metrics.filter((metric) => !isFamily(metric))),
    families: processes.flat().filter(isFamily),
  }
}

function isFamily(metric: object): metric is HistorianFamily {
  return 'kind' in metric && metric.kind === 'by-historian'
}

const JOINS: Readonly<Record<Join, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
}

function labelOf({ operation, reason }: HistorianValue): string {
  if (operation !== undefined) return `,operation="${operation}"`
  return reason === undefined ? '' : `,reason="${reason}"`
}

/**
 * Text for Prometheus. A historian that the asker may not name is joined with the others of its type, its name left
 * empty.
 * @param families of all processes; those of the same name are one
 */
export function printFamilies(
  families: readonly HistorianFamily[],
  mayName: (historian: string) => boolean,
): string {
  let text = ''
  for (const [name, [first, ...others]] of Map.groupBy(families, (family) => family.name)) {
    const join = JOINS[first!.join]
    const rows = new Map<string, number>()
    for (const one of [first!, ...others].flatMap(({ values }) => values)) {
      const { historian, type, value } = one
      const label = labelOf(one)
      const row = `${name}{historian="${mayName(historian) ? historian : ''}",type="${type}"${label}}`
      const known = rows.get(row)
      rows.set(row, known === undefined ? value : join(known, value))
    }
    if (rows.size === 0) continue
    text += `# HELP ${name} ${first!.help}\n# TYPE ${name} ${first!.type}\n`
    for (const [row, value] of rows) text += `${row} ${value}\n`
  }
  return text
}
