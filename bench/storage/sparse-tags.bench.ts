import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { expect, type Measurement, quantile } from '../measure.ts'

/*
 * The point before an instant of tags that have points in few of 120 monthly parts, with nothing of the tag in memory:
 * each tag is asked once after a start. The pages lie in the page cache of the system, as the parts were just written.
 */
const MONTHS = 120
const MONTH_US = 30 * 86_400e6
/** Of each kind, and beside them: in each month, so that parts have many pages. */
const TAGS = 1_000
const FILLERS = 5_000
const WARM_UPS = 200

/** In which months a tag of a kind has points, by its number. */
const KINDS: Readonly<Record<string, (tag: number, month: number) => boolean>> = {
  'one-part': (tag, month) => month === tag % 60,
  'ten-parts': (tag, month) => month % 12 === tag % 12,
  'all-parts': () => true,
}

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
const measurements: Measurement[] = []
try {
  await fill()
  for (const kind of Object.keys(KINDS)) {
    const opening = performance.now()
    const store = await open()
    const openMs = performance.now() - opening
    const durations: number[] = []
    let processorUs = 0
    let firstMs = 0
    for (let tag = 0; tag < TAGS; tag++) {
      const before = process.cpuUsage()
      const start = performance.now()
      const { times } = await store.readPoints(
        [{ tag: `${kind} ${tag}`, find: 'before', at: 70 * MONTH_US }],
        signal,
      )
      const elapsed = performance.now() - start
      expect(times[0]! < 70 * MONTH_US && times[0]! > 0, 'there is a point before')
      if (tag === 0) firstMs = elapsed
      if (tag < WARM_UPS) continue
      const { user, system } = process.cpuUsage(before)
      durations.push(elapsed)
      processorUs += user + system
    }
    await store.close()
    durations.sort((a, b) => a - b)
    measurements.push({
      name: `storage/sparse-tags/point-before/${kind}`,
      runs: durations.length,
      medianMs: quantile(durations, 0.5),
      p99Ms: quantile(durations, 0.99),
      processorMs: processorUs / 1000 / durations.length,
      items: null,
      note: `each of another tag, once; the very first of all took ${firstMs.toFixed(2)} ms, the start ${openMs.toFixed(0)} ms`,
    })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(JSON.stringify(measurements))

async function fill(): Promise<void> {
  const store = await open()
  for (let month = 0; month < MONTHS; month++) {
    const entries: { tag: string; points: PointColumns }[] = []
    for (let i = 0; i < FILLERS; i++) entries.push({ tag: `filler ${i}`, points: pointsFrom(month, 10) })
    for (const [kind, has] of Object.entries(KINDS)) {
      for (let tag = 0; tag < TAGS; tag++) {
        if (has(tag, month)) entries.push({ tag: `${kind} ${tag}`, points: pointsFrom(month, 3) })
      }
    }
    await store.write(writeBatch(entries, true), signal)
    await store.flush()
  }
  await store.close()
}

/** Nothing merges the months, as if each had more than a part may have. */
function open(): Promise<FileStore> {
  const limits = {
    flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
    merge: { partitionBytes: 1e12, fanIn: 1e6, largestBytes: 1e12 },
    reserveBytes: 0,
  }
  return openFileStore(folder, { historian: 'plant', owner: true, limits })
}

function pointsFrom(month: number, count: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = month * MONTH_US + i * 1e6 + 1
    points.values[i] = Math.sqrt(i + month)
  }
  return points
}
