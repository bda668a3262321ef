import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, type Measurement, quantile } from './measure.ts'

/**
 * The same benchmarks of two checkouts in turn: `node bench/compare.ts OLD NEW calc/nested.bench.ts ...`, each with its
 * own node_modules. Each run is a process of its own, and other load on the machine meets both checkouts alike. A
 * benchmark that the old checkout lacks, or whose `bench/measure.ts` does not print processor time, is copied there
 * first. Prints the figures of all runs as JSON, and the ratio of their medians on standard error. `COMPARE_RUNS` (5)
 * runs of each.
 */
const RUNS = Number(process.env.COMPARE_RUNS ?? 5)
const [oldRoot, newRoot, ...files] = process.argv.slice(2)
expect(
  oldRoot !== undefined && newRoot !== undefined && files.length > 0,
  'two checkouts and benchmarks are named',
)
const roots = { old: oldRoot!, new: newRoot! } as const
type Side = keyof typeof roots

/** What calls of a service, whose work is another process's, are named after. */
const SERVED = /^(?:http|peers)\//

/** Processor time of one run in milliseconds, or its duration where the work is another process's, by process. */
type Figures = Record<Side, number[]>
const rows = new Map<string, Figures>()
for (let run = 0; run < RUNS; run++) {
  for (const side of run % 2 === 0 ? (['old', 'new'] as const) : (['new', 'old'] as const))
    for (const file of files) for (const row of measured(side, file)) add(side, row)
  process.stderr.write(`run ${run + 1} of ${RUNS}\n`)
}

process.stdout.write(`${JSON.stringify(Object.fromEntries(rows), null, 1)}\n`)
for (const [name, { old, new: later }] of rows) {
  if (old.length === 0 || later.length === 0) continue
  const [before, now] = [old, later].map((figures) => quantile(figures.toSorted(ascending), 0.5)) as [
    number,
    number,
  ]
  process.stderr.write(
    `${name.padEnd(64)} ${before.toFixed(3)} ${now.toFixed(3)} ms, ${(now / before).toFixed(3)}\n`,
  )
}

function measured(side: Side, file: string): readonly Measurement[] {
  const output = execFileSync(process.execPath, [join(roots[side], 'bench', file)], {
    encoding: 'utf8',
    cwd: roots[side],
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })
  return (JSON.parse(output) as readonly Measurement[]).filter(({ medianMs }) => medianMs !== null)
}

function add(side: Side, { name, processorMs, medianMs, items, itemsPerSecond }: Measurement): void {
  // Of calls beside each other the time for all of them counts, what is done between their answers included.
  const servedMs = itemsPerSecond === undefined ? medianMs : ((items ?? 1) / itemsPerSecond) * 1_000
  rows
    .getOrInsertComputed(name, () => ({ old: [], new: [] }))
    [side].push(SERVED.test(name) ? servedMs : (processorMs ?? medianMs))
}

function ascending(a: number, b: number): number {
  return a - b
}
