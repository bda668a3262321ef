import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Real measurements are kept beside the project, or where TIDEMARK_TEST_DATA says; they are no part of it. */
const FOLDER =
  process.env.TIDEMARK_TEST_DATA ?? fileURLToPath(new URL('../../../shared/data', import.meta.url))

/** Why a test of a file has to be skipped; false when the file is there. */
export function missing(...names: readonly string[]): string | false {
  const absent = names.filter((name) => !existsSync(join(FOLDER, name)))
  return absent.length === 0
    ? false
    : `${absent.join(', ')} not found in ${FOLDER}; TIDEMARK_TEST_DATA names another folder`
}

export function pathOf(name: string): string {
  return join(FOLDER, name)
}

/** One row of a file: its time in milliseconds, and the numbers of the other columns by name. */
export interface Row {
  readonly time: number
  readonly values: ReadonlyMap<string, number>
}

/**
 * Reads a file by itself, with nothing of the program: lines split at the separator, times taken as UTC. Good for the
 * plain files of the tests, which have no quotes.
 */
export function readRows(name: string, separator: string): readonly Row[] {
  const [header, ...lines] = readFileSync(pathOf(name), 'utf8').trim().split(/\r?\n/)
  const names = header!.split(separator)
  return lines.map((line) => {
    const cells = line.split(separator)
    const time = Date.parse(`${cells[0]!.replace(' ', 'T')}Z`)
    return {
      time,
      values: new Map(names.slice(1).map((column, index) => [column, Number(cells[index + 1])])),
    }
  })
}

/** One column in time order, the last row of each time. */
export function columnOf(rows: readonly Row[], column: string): readonly Sample[] {
  const byTime = new Map(rows.map(({ time, values }) => [time, values.get(column)!]))
  return [...byTime].map(([time, value]) => ({ time, value })).sort((a, b) => a.time - b.time)
}

export interface Sample {
  readonly time: number
  readonly value: number
}

/** The value on the line between the samples around a time; null before the first, the last one's after it. */
export function onLine(samples: readonly Sample[], time: number): number | null {
  let before: Sample | null = null
  for (const sample of samples) {
    if (sample.time > time) {
      if (before === null) return null
      const share = (time - before.time) / (sample.time - before.time)
      return before.value + share * (sample.value - before.value)
    }
    before = sample
  }
  return before?.value ?? null
}

/** The value of the last sample at or before a time. */
export function held(samples: readonly Sample[], time: number): number | null {
  return samples.findLast((sample) => sample.time <= time)?.value ?? null
}

/** The integral over a span by trapezoids between the samples and the ends of the span, in value times hours. */
export function trapezoid(samples: readonly Sample[], from: number, to: number): number {
  const inside = samples.filter(({ time }) => time > from && time < to)
  const ends = [from, to].map((time) => ({ time, value: onLine(samples, time) ?? 0 }))
  const points = [ends[0]!, ...inside, ends[1]!]
  let total = 0
  for (let at = 1; at < points.length; at++) {
    const [left, right] = [points[at - 1]!, points[at]!]
    // Nothing before the first sample.
    if (left.time < samples[0]!.time && right.time <= samples[0]!.time) continue
    total += ((left.value + right.value) / 2) * (right.time - left.time)
  }
  return total / 3_600_000
}
