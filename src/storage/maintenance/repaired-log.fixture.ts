import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelOf, open, signal } from '../../../test/durability/workload.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import type { FileStore } from '../engine/file-store.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { GROUP_HEADER_BYTES, readGroupHeader } from '../wal/group.ts'
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
import { repairHistorian } from './repair-historian.ts'
import type { RepairReport } from './repair-report.ts'

export const repair = (folder: string, files: Files = systemFiles) =>
  repairHistorian(files, folder, { historian: 'plant' }, signal)

/** What a repair tells of lost data, whether it comes to its end or not. */
export async function toldBy(
  folder: string,
  files: Files,
  isExpected: (error: unknown) => boolean,
): Promise<readonly string[]> {
  const told: string[] = []
  const tell = ({ lost, unknown }: RepairReport) => told.push(...lost, ...unknown)
  await repairHistorian(files, folder, { historian: 'plant', tell }, signal).catch((error: unknown) =>
    assert.ok(isExpected(error), String(error)),
  )
  return told
}

export const write = (store: FileStore, tag: string, time = 0) => {
  const points = makeColumns(1)
  points.times[0] = time
  points.values[0] = time
  return store.write(writeBatch([{ tag, points }], true), signal)
}

/** Lives through some changes, and closes. */
export async function live(
  folder: string,
  changes: (store: FileStore) => Promise<unknown>,
  files: Files = systemFiles,
) {
  const store = await open(files, folder)
  await changes(store)
  await store.close()
}

/** Paths of the segments. */
export const segmentsIn = (folder: string): readonly string[] =>
  readdirSync(join(folder, 'wal'))
    .filter((name) => name.endsWith('.wal'))
    .map((name) => join(folder, 'wal', name))

/** What was set aside, without the reports of repairs. */
export const asideIn = (folder: string): readonly string[] =>
  inDamaged(folder).filter((name) => !name.startsWith('repair-'))

/** Names of the reports of repairs. */
export const reportsIn = (folder: string): readonly string[] =>
  inDamaged(folder).filter((name) => name.startsWith('repair-'))

const inDamaged = (folder: string): readonly string[] =>
  existsSync(join(folder, 'damaged')) ? readdirSync(join(folder, 'damaged')) : []

/** Where the groups of a segment begin, and where the last one ends. */
export function groupsIn(path: string): readonly number[] {
  const bytes = readFileSync(path)
  const header = decodeSegmentHeader(bytes)
  const starts = [SEGMENT_HEADER_BYTES]
  for (;;) {
    const group = readGroupHeader(bytes, starts.at(-1)!, header)
    if (group === null) return starts
    starts.push(starts.at(-1)! + group.bytes)
  }
}

export function flipBit(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

/** Damages the record of the group with a number, from 0, which is the only one of its group. */
export const harmRecord = (path: string, group: number) =>
  flipBit(path, groupsIn(path)[group]! + GROUP_HEADER_BYTES + 16)

/** The times of all tags, after the log was flushed, too; without problems. Writes are taken. */
export async function contentOf(folder: string): Promise<Record<string, readonly number[]>> {
  const store = await open(systemFiles, folder)
  const read = async () => {
    const found = [...(await modelOf(store))].map(([tag, { points }]) => [tag, [...points.keys()]] as const)
    return Object.fromEntries(found)
  }
  try {
    await store.checkHealth(signal)
    assert.equal(store.leftOut, null)
    const found = await read()
    assert.deepEqual((await store.check(signal)).problems, [])
    await store.flush()
    assert.deepEqual(await read(), found)
    return found
  } finally {
    await store.close()
  }
}

export async function assertTakesWrites(folder: string): Promise<void> {
  await live(folder, (store) => write(store, 'written afterwards', 99))
  assert.deepEqual((await contentOf(folder))['written afterwards'], [99])
  assert.equal((await repair(folder)).isSound, true)
}

export const CONSEQUENCE =
  /^what the lost records of the log changed: points may be missing, points and tags that were/
