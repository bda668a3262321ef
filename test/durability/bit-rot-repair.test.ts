import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { repairHistorian } from '../../src/storage/maintenance/repair-historian.ts'
import { GROUP_HEADER_BYTES, readGroupHeader } from '../../src/storage/wal/group.ts'
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES } from '../../src/storage/wal/segment.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { modelOf, open, signal } from './workload.ts'

/** Places that are damaged, one after the other, of each segment. */
const PLACES = Number(process.env.ROT_REPAIRS ?? 60)

/** Each change has a point of its own: its time is the number of the record. */
async function write(store: FileStore, number: number): Promise<void> {
  const points = makeColumns(1)
  points.times[0] = number
  points.values[0] = number
  await store.write(writeBatch([{ tag: number % 3 === 0 ? `tag ${number}` : 'tag', points }], true), signal)
}

/** Numbers of the records that a group of a segment has, and its bytes. */
interface Group {
  readonly path: string
  readonly from: number
  readonly to: number
  readonly first: number
  readonly last: number
}

function groupsIn(path: string, content: Uint8Array): readonly Group[] {
  const bytes = Buffer.from(content)
  const header = decodeSegmentHeader(bytes)
  const groups: Group[] = []
  for (let from = SEGMENT_HEADER_BYTES; ; ) {
    const group = readGroupHeader(bytes, from, header)
    if (group === null) return groups
    const to = from + group.bytes
    groups.push({ path, from, to, first: group.firstSequence, last: group.firstSequence + group.records - 1 })
    from = to
  }
}

/** A life of two owners: what they wrote stands in several segments, but for what the first one has flushed. */
async function lived(disk: SimulatedDisk, folder: string) {
  const files = new FailingFiles(disk)
  let number = 0
  for (const segments of [2, 3]) {
    const store = await open(files, folder)
    for (let segment = 0; segment < segments; segment++) {
      if (segment > 0) {
        files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
        await assert.rejects(write(store, 1_000), { code: 'WRITE_OUTCOME_UNKNOWN' })
        files.plan = () => null
      }
      for (let i = 0; i < 4; i++) {
        await write(store, ++number)
        if (number === 2) await store.flush()
      }
      // In one group.
      await Promise.all([1, 2, 3].map(() => write(store, ++number)))
    }
    await store.close()
  }
  return number
}

/** Numbers of the records that sentences name as lost. */
function lostOf(sentences: readonly string[]): ReadonlySet<number> {
  const lost = new Set<number>()
  for (const sentence of sentences) {
    const match = /^(?:record (\d+)|records (\d+) to (\d+)) of the log/.exec(sentence)
    const first = Number(match?.[1] ?? match?.[2] ?? 1)
    const last = Number(match?.[1] ?? match?.[3] ?? 0)
    for (let number = first; number <= last; number++) lost.add(number)
  }
  return lost
}

/** Times of all points, in order; a tag whose making is lost may have another name. */
async function timesIn(store: FileStore, what: string): Promise<readonly number[]> {
  const times: number[] = []
  for (const [tag, { points }] of await modelOf(store)) {
    for (const [time, value] of points) {
      assert.equal(value, time, `${what}: ${tag} at ${time}`)
      const own = time % 3 === 0 ? `tag ${time}` : 'tag'
      assert.ok(tag === own || tag.startsWith('recovered-'), `${what}: ${time} is a point of ${tag}`)
      times.push(time)
    }
  }
  return times.sort((a, b) => a - b)
}

test('of a log with a flipped bit, a missing end or a missing file a repair keeps every intact record, and names the others', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-rot-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = new SimulatedDisk()
  const count = await lived(disk, folder)
  const segments = [...disk.contents()].filter(([path]) => path.endsWith('.wal'))
  const groups = segments.flatMap(([path, content]) => groupsIn(path, content))
  const all = Array.from({ length: count }, (_, i) => i + 1)
  let repaired = 0

  /** @param isHarmed  whether something of a group is damaged */
  const meet = async (harmed: SimulatedDisk, what: string, isHarmed: (group: Group) => boolean) => {
    const { isSound, lost } = await repairHistorian(harmed, folder, { historian: 'plant' }, signal)
    const named = lostOf(lost)
    const hit = groups.filter(isHarmed)
    for (const number of named) {
      const isHit = hit.some(({ first, last }) => first <= number && number <= last)
      assert.ok(isHit, `${what}: record ${number} is intact, and said to be lost: ${lost.join('; ')}`)
    }
    if (!isSound) repaired++
    const isUnstated = lost.some((one) => one.startsWith('what was acknowledged as'))
    let expected: readonly number[] = all.filter((number) => !named.has(number))
    for (const later of [0, 1]) {
      const store = await open(harmed, folder)
      await store.checkHealth(signal)
      const found = await timesIn(store, what)
      if (isUnstated && later === 0) {
        // One that was given up is there in place of one that is missing; it is said.
        const given = found.filter((time) => time === 1_000)
        assert.equal(given.length, 1, what)
        expected = found
        assert.ok(all.filter((time) => !named.has(time) && !found.includes(time)).length <= 1, what)
      }
      assert.deepEqual(found, expected, `${what}, start ${later}: ${lost.join('; ')}`)
      assert.deepEqual((await store.check(signal)).problems, [], what)
      const next = 2_000 + later
      await write(store, next)
      expected = [...expected, next].sort((a, b) => a - b)
      if (later === 1) await store.flush()
      assert.deepEqual(await timesIn(store, what), expected, what)
      await store.close()
    }
  }

  for (const [path, content] of segments) {
    const own = groups.filter((group) => group.path === path)
    const end = own.at(-1)?.to ?? SEGMENT_HEADER_BYTES
    for (let i = 0; i < PLACES; i++) {
      const at = Math.floor((i * end) / PLACES)
      const isCut = i % 4 === 3
      const bytes = isCut ? content.slice(0, at) : content.slice()
      if (!isCut) bytes[at]! ^= 1 << (i % 8)
      const what = `${basename(path)} ${isCut ? 'cut at' : 'bit flipped at'} ${at}`
      const isHarmed = (group: Group) =>
        group.path === path && (isCut ? group.to > at : group.from <= at && at < group.to)
      await meet(disk.copy(new Map([[path, bytes]])), what, isHarmed)
    }
    await meet(
      disk.copy(new Map([[path, null]])),
      `${basename(path)} is missing`,
      (group) => group.path === path,
    )
  }
  t.diagnostic(`${repaired} logs repaired, ${segments.length} segments`)
  assert.ok(repaired > PLACES)
  assert.ok(groups.some(({ from, to }) => to - from > GROUP_HEADER_BYTES + 3 * 32))
})
