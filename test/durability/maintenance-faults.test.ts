import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import type { Files } from '../../src/storage/files/files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { repairHistorian } from '../../src/storage/maintenance/repair-historian.ts'
import { toldBy } from '../../src/storage/maintenance/repaired-log.fixture.ts'
import { listManifests } from '../../src/storage/manifest/manifest-file.ts'
import { GROUP_HEADER_BYTES } from '../../src/storage/wal/group.ts'
import { SEGMENT_HEADER_BYTES } from '../../src/storage/wal/segment.ts'
import { randomOf } from './random.ts'
import { PowerCut, SimulatedDisk } from './simulated-disk.ts'
import { modelOf, newClock, open, openRetained, printed, RETAINED_STEPS, STEPS, signal } from './workload.ts'

/*
 * Copies and repairs, with a fault or a power cut at each of their calls. What they are made of stays as it is, and
 * what they leave is whole or none.
 */

const base = mkdtempSync(join(tmpdir(), 'tidemark-maintenance-'))
after(() => rmSync(base, { recursive: true, force: true }))
const [FROM, EARLIER, TO] = ['from', 'earlier', 'to'].map((name) => join(base, name)) as [
  string,
  string,
  string,
]
// Locks are those of the system.
for (const folder of [FROM, EARLIER, TO]) mkdirSync(folder)
/** Power cuts at each moment; each leaves something else. */
const CUTS = Number(process.env.POWER_CUTS ?? 3)

/** A disk with a historian that went through steps, and a copy that was made amid them. Its owner is open. */
async function lived(): Promise<{ readonly disk: SimulatedDisk; readonly store: FileStore }> {
  const disk = new SimulatedDisk()
  const clock = newClock()
  const store = await openRetained(disk, FROM, clock)
  for (const [i, step] of RETAINED_STEPS.entries()) {
    await step.run(store, clock)
    if (i === 8) await copyHistorian(disk, FROM, EARLIER, { mode: 'copy' }, signal)
  }
  return { disk, store }
}

const copy = (files: Files) => copyHistorian(files, FROM, TO, { mode: 'copy', earlier: EARLIER }, signal)

/** What is there, also after all was flushed; without problems. */
async function contentOf(files: Files, folder: string, what: string): Promise<string> {
  const store = await open(files, folder)
  try {
    const found = printed(await modelOf(store))
    assert.deepEqual((await store.check(signal)).problems, [], what)
    await store.flush()
    assert.equal(printed(await modelOf(store)), found, `${what}, flushed`)
    return found
  } finally {
    await store.close()
  }
}

/** A copy that did not come to its end is none, or a whole one. Gives whether it is one. */
async function assertNoneOrWhole(files: Files, expected: string, what: string): Promise<boolean> {
  if (listManifests(files, join(TO, 'manifest')).length === 0) return false
  assert.equal(await contentOf(files, TO, what), expected, what)
  return true
}

test('a copy that fails at any call leaves none, or a whole one, and can be made again', async (t) => {
  const { disk, store } = await lived()
  const expected = printed(await modelOf(store))
  await store.close()
  const whole = new FailingFiles(disk.copy())
  await copy(whole)
  let failed = 0
  for (let at = 0; at < whole.calls; at++) {
    const image = disk.copy()
    const files = new FailingFiles(image, (_call, _path, number) =>
      number === at ? { code: at % 3 === 0 ? 'ENOSPC' : 'EIO', short: at % 2 === 0 } : null,
    )
    const error: unknown = await copy(files).then(
      () => null,
      (reason: unknown) => reason,
    )
    const what = `call ${at}`
    if (error === null) assert.ok(await assertNoneOrWhole(image.copy(), expected, what), what)
    else {
      failed++
      await assertNoneOrWhole(image.copy(), expected, what)
      await copy(image)
      assert.equal(await contentOf(image, TO, what), expected, `${what}, made again`)
    }
    assert.equal(await contentOf(image.copy(), FROM, what), expected, `${what}, the source`)
  }
  t.diagnostic(`${whole.calls} calls, ${failed} copies failed`)
  assert.ok(failed > 20)
})

test('a power cut at any moment of a copy leaves none, or a whole one', async (t) => {
  const { disk, store } = await lived()
  const expected = printed(await modelOf(store))
  await store.close()
  const whole = disk.copy()
  await copy(whole)
  for (let cutAt = 0; cutAt <= whole.calls; cutAt++) {
    const image = disk.copy()
    image.cutAt = cutAt
    const isMade = await copy(image).then(
      () => true,
      (error: unknown) => {
        assert.ok(error instanceof PowerCut, String(error))
        return false
      },
    )
    for (let cut = 0; cut < CUTS; cut++) {
      const left = image.afterCut(randomOf(cutAt * 1_000 + cut))
      const what = `cut ${cut} at call ${cutAt}`
      const isThere = await assertNoneOrWhole(left.copy(), expected, what)
      if (isMade) assert.ok(isThere, what)
      assert.equal(await contentOf(left, FROM, what), expected, `${what}, the source`)
    }
  }
  t.diagnostic(`${whole.calls} moments, ${CUTS} cuts at each`)
})

/** What is damaged of a historian. */
const KINDS = [
  'manifest',
  'part',
  'catalog',
  'log',
  'manifest and part',
  'manifest and catalog',
  'manifest and log',
] as const

/** A historian without a manifest, or with something that is damaged, on a disk of its own. */
function damaged(disk: SimulatedDisk, what: (typeof KINDS)[number]): SimulatedDisk {
  const changed = new Map<string, Uint8Array | null>()
  for (const [path, content] of disk.contents()) {
    if (what.includes('manifest') && path.startsWith(join(FROM, 'manifest'))) changed.set(path, null)
    if (what.includes('log') && path.endsWith('.wal') && path.startsWith(FROM)) {
      const bytes = content.slice()
      // In the first group: a record of the next one is intact.
      bytes[SEGMENT_HEADER_BYTES + GROUP_HEADER_BYTES + 16]! ^= 1
      changed.set(path, bytes)
      continue
    }
    const isDamaged =
      (what.includes('part') && path.startsWith(join(FROM, 'parts'))) ||
      (what.includes('catalog') && path.startsWith(join(FROM, 'catalog')))
    if (!isDamaged) continue
    const bytes = content.slice()
    const at = what.includes('part') ? 40 : bytes.length - 3
    bytes[at]! ^= 1
    changed.set(path, bytes)
  }
  return disk.copy(changed)
}

/** Steps that stay in the log. */
const LOGGED = [STEPS[0]!, STEPS[3]!, STEPS[8]!, STEPS[15]!]

const repair = (files: Files) => repairHistorian(files, FROM, { historian: 'plant' }, signal)

/** What is lost is told by a repair, or by the next one. */
function assertAllTold(told: readonly string[], lost: readonly string[], what: string): void {
  const untold = lost.filter((one) => !told.includes(one))
  assert.deepEqual(untold, [], what)
}

for (const kind of KINDS) {
  test(`a repair of a damaged ${kind} that fails at any call, or is cut off, is done by the next one, and all that is lost is told`, async (t) => {
    const { disk, store } = await lived()
    // All that came before is flushed.
    if (kind.includes('log')) for (const step of LOGGED) await step.run(store)
    const before = damaged(disk, kind)
    await store.close()
    const whole = before.copy()
    const counting = new FailingFiles(whole)
    const { lost, unknown } = await repair(counting)
    assert.equal(lost.length > 0, kind !== 'manifest', lost.join('\n'))
    assert.ok(unknown.length === 0 || kind.includes('manifest'), unknown.join('\n'))
    const expected = await contentOf(whole, FROM, kind)
    for (let at = 0; at < counting.calls; at++) {
      const image = before.copy()
      const files = new FailingFiles(image, (_call, _path, number) =>
        number === at ? { code: 'EIO', short: at % 2 === 0 } : null,
      )
      const told = await toldBy(FROM, files, (error) => error instanceof Error)
      const next = await repair(image)
      assertAllTold([...told, ...next.lost, ...next.unknown], [...lost, ...unknown], `call ${at}`)
      assert.equal((await repair(image)).isSound, true, `call ${at}`)
      assert.equal(await contentOf(image, FROM, `call ${at}`), expected, `call ${at}`)
    }
    const { calls } = before
    const repaired = before.copy()
    await repair(repaired)
    const moments = repaired.calls - calls
    for (let cutAt = 0; cutAt <= moments; cutAt++) {
      const image = before.copy()
      image.cutAt = cutAt
      const told = await toldBy(FROM, image, (error) => error instanceof PowerCut)
      for (let cut = 0; cut < CUTS; cut++) {
        const left = image.afterCut(randomOf(cutAt * 1_000 + cut))
        const what = `cut ${cut} at call ${cutAt}`
        const next = await repair(left)
        assertAllTold([...told, ...next.lost, ...next.unknown], [...lost, ...unknown], what)
        assert.equal((await repair(left)).isSound, true, what)
        assert.equal(await contentOf(left, FROM, what), expected, what)
      }
    }
    t.diagnostic(`${counting.calls} calls, ${moments} moments with ${CUTS} cuts each`)
  })
}
