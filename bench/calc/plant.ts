import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded } from '../../src/drivers/embedded/driver.ts'
import { CALL_LIMITS, defaultsOf } from '../../src/errors/limits.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { NO_METER } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import type { CallLimits } from '../../src/multi/limit.ts'
import { runMulti } from '../../src/multi/run.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { type Instant, instantFromUs } from '../../src/time/instant.ts'
import { UTC } from '../../src/time/zone.ts'
import { expect } from '../measure.ts'

/** First point of every tag. */
export const START_US = Date.UTC(2026, 0, 1) * 1000

/** An embedded historian in a folder of its own, read in this process through the whole of src/multi. */
export interface Plant {
  /** Writes a linear tag with a point each second from START_US on. */
  write(tag: string, points: number, valueAt: (index: number) => number): Promise<void>
  /** The text of a multi call's answer. */
  ask(requests: object, limits?: Partial<CallLimits>): Promise<Buffer>
  stop(): Promise<void>
}

const LIMITS: CallLimits = {
  ...defaultsOf(CALL_LIMITS),
  requestedPoints: 100_000,
  historianLoad: 500_000,
  effectiveTags: 100,
  aggregateWindows: 100_000,
  deadlineSeconds: 30,
}

/** Points of one write. */
const BATCH = 25_000

/** @param now of all calls */
export async function startPlant(now: Instant): Promise<Plant> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const log = { info() {}, warn() {}, error() {} }
  const historian = await embedded.open(embedded.configSchema.parse({}), {
    name: 'plant',
    directory,
    log,
    meter: NO_METER,
  })
  const historians = new HistorianRegistry([historian])
  const { signal } = new AbortController()
  return {
    write: async (tag, points, valueAt) => {
      for (let from = 0; from < points; from += BATCH) {
        const columns = makeColumns(Math.min(BATCH, points - from))
        for (let i = 0; i < columns.times.length; i++) {
          columns.times[i] = START_US + (from + i) * 1_000_000
          columns.values[i] = valueAt(from + i)
        }
        await historian.write(writeBatch([{ tag, points: columns }], true), { signal })
      }
    },
    ask: async (requests, limits = {}) => {
      const answer = await runMulti(
        { now: now / 1000, requests },
        {
          historians,
          limits: { ...LIMITS, ...limits },
          defaultZone: UTC,
          defaultHistorian: null,
          now,
          signal,
        },
      )
      expect(answer.outcome === 'executed' && answer.invalidLabels === 0, 'every label is answered')
      return Buffer.concat([...answer.chunks()])
    },
    stop: async () => {
      await historian.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** An instant some seconds after the first point. */
export function secondsIn(seconds: number): Instant {
  return instantFromUs(START_US + seconds * 1_000_000)
}
