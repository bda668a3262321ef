import { mkdirSync } from 'node:fs'
import type { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import type { Version } from '../manifest/version.ts'
import { inlineDevice } from './device.ts'
import type { RecordBody } from './group.ts'
import { LogWriter } from './log-writer.ts'
import { readLog } from './read-log.ts'
import { RemovedSpans } from './removed-spans.ts'
import type { WalPosition, WalRecord } from './wal-record.ts'

/** A version of an owner with nothing flushed. */
export function versionOf(token: number, change: Partial<Version> = {}): Version {
  return {
    number: 1,
    token,
    historian: 'plant',
    id: '0'.repeat(32),
    parts: [],
    catalog: null,
    flushedSequence: 0,
    flushedGeneration: 0,
    accepted: [],
    kept: [],
    retention: null,
    ...change,
  }
}

/** A record with a few points, catalog bytes and removals, told apart by its number. */
export function bodyOf(number: number): RecordBody {
  const count = number % 4
  return {
    catalog: number % 3 === 0 ? Uint8Array.of(number, 1, 2) : null,
    removed: RemovedSpans.of(
      number % 5 === 0 ? [{ tag: number, from: Number.NEGATIVE_INFINITY, to: number * 1.5 }] : [],
    ),
    points:
      count === 0
        ? null
        : {
            tags: Uint32Array.of(number, 7),
            offsets: Uint32Array.of(0, count - 1, count),
            points: {
              times: Float64Array.from({ length: count }, (_, i) => number * 100 + i),
              values: Float64Array.from({ length: count }, (_, i) => i / 3),
              statuses: Uint8Array.from({ length: count }, (_, i) => (number + i) % 2),
            },
          },
  }
}

/** A record as plain data, to be compared. */
export function plain({ sequence, catalog, removed, points }: WalRecord): unknown {
  return {
    sequence,
    catalog: catalog === null ? null : [...catalog],
    removed: [...removed],
    points:
      points === null
        ? null
        : [...Object.values(points.points), points.tags, points.offsets].map((one) => [...one]),
  }
}

export function expected(number: number, sequence = number): unknown {
  return plain({ ...bodyOf(number), sequence })
}

export function startLog(folder: string, token = 1, files: Files = systemFiles): LogWriter {
  mkdirSync(folder, { recursive: true })
  return new LogWriter(inlineDevice(files), folder, { token, generation: 1, nextSequence: 1 })
}

export interface ReadBack {
  readonly records: readonly unknown[]
  readonly damages: readonly string[]
  readonly segments: readonly { readonly name: string; readonly bytes: number }[]
  readonly rotations: number
}

export function readBack(
  folder: string,
  version = versionOf(1),
  published: WalPosition | null = null,
): ReadBack {
  const records: unknown[] = []
  const damages: string[] = []
  let rotations = 0
  const read = readLog(systemFiles, folder, version, published, {
    take: (record) => records.push(plain(record)),
    damaged: (damage: Damage) => damages.push(damage.message),
    rotate: () => rotations++,
  })
  return { records, damages, segments: read.map(({ name, bytes }) => ({ name, bytes })), rotations }
}
