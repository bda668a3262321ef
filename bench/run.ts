import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type { FailedMeasurement, Measurement } from './measure.ts'

/**
 * Runs every bench/<folder>/*.bench.ts in a process of its own, prints one table and writes bench/results/latest.json.
 * `npm run bench -- http` runs the folders and files whose path holds that text.
 */
const here = import.meta.dirname
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const files = globSync('*/*.bench.ts', { cwd: here })
  .sort()
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))

const measurements: (Measurement | FailedMeasurement)[] = []
for (const file of files) {
  process.stderr.write(`${file} ...\n`)
  const output = execFileSync(process.execPath, [join(here, file)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })
  measurements.push(...(JSON.parse(output) as typeof measurements))
}

const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  date: new Date().toISOString().slice(0, 10),
}
mkdirSync(join(here, 'results'), { recursive: true })
writeFileSync(join(here, 'results', 'latest.json'), `${JSON.stringify({ machine, measurements }, null, 2)}\n`)

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ machine, measurements }, null, 2))
} else {
  console.log(
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.date}\n`,
  )
  console.log(table(measurements))
}

function table(rows: typeof measurements): string {
  const header = ['case', 'runs', 'median ms', 'p99 ms', 'processor ms', 'items/s', 'note']
  const cells = rows.map(({ name, runs, medianMs, p99Ms, processorMs, items, itemsPerSecond, note }) => [
    name,
    String(runs),
    medianMs?.toFixed(3) ?? '',
    p99Ms?.toFixed(3) ?? '',
    processorMs?.toFixed(3) ?? '',
    items === null || medianMs === null
      ? ''
      : Math.round(itemsPerSecond ?? (items / medianMs) * 1000).toLocaleString('en'),
    note,
  ])
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]!.length)),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 || column === 6 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}
