import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { archiveFolderOf } from '../../src/storage/archive/archive-file.ts'
import { planReplay } from '../../src/storage/archive/read-archive.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { replayLog } from '../../src/storage/maintenance/replay-log.ts'
import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { readLog } from '../../src/storage/wal/read-log.ts'
import { keep, TestClock } from '../property/retention-model.ts'
import { temporaryFolder } from './folder.ts'
import { LifeModel, type ModelPoint } from './life-model.ts'
import { randomOf } from './random.ts'
import { readLife } from './read-life.ts'

/** Lives whose moments are restored, and the first of their seeds. */
const LIVES = Number(process.env.RANDOM_RESTORES ?? 2)
const FIRST = Number(process.env.RANDOM_LIVES_FROM ?? 1)
const STEPS = 40
const { signal } = new AbortController()
const NAMES = ['a', 'b', 'c', 'd1', 'd2']
const RULES: readonly (readonly RetentionRule[])[] = [[], [keep('d*', 60)], [keep('b*', 30), keep('d*', 100)]]

/** A moment: the commit time of what is there then. */
interface Moment {
  readonly us: number
  readonly model: LifeModel
}

interface Backup {
  readonly folder: string
  /** Number of its moment. */
  readonly moment: number
}

async function live(base: string, seed: number, hasRetention: boolean) {
  const random = randomOf(seed)
  const [folder, archive] = [join(base, 'plant'), join(base, 'archive')]
  mkdirSync(archive)
  const clock = new TestClock(1e9)
  const done: string[] = []
  let us = 1_000_000
  let rules: readonly RetentionRule[] = []
  let model = new LifeModel()
  const moments: Moment[] = []
  const backups: Backup[] = []
  const open = async () => {
    if (hasRetention && random(2) === 0) rules = RULES[random(RULES.length)]!
    us += 1_000
    const opened = await openFileStore(folder, {
      historian: 'plant',
      owner: true,
      clock: () => us,
      archive: { folder: archive, everyMs: 1e9, keepBytes: 1 << 30 },
      ...(hasRetention && { retention: { rules, time: clock } }),
      limits: {
        flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
        merge: { partitionBytes: 3_000, fanIn: 2, largestBytes: 1 << 22 },
        retentionEveryMs: 1e9,
        reserveBytes: 0,
      },
    })
    if (hasRetention) {
      await opened.retain()
      model = model.retain(rules, clock.us)
    }
    done.push(`start with ${rules.map(({ match }) => match).join(' ')}`)
    return opened
  }
  let store: FileStore = await open()
  const nameOf = () => NAMES[random(NAMES.length)]!
  const existing = () => [...model.tags.keys()][random(Math.max(1, model.tags.size))] ?? null
  const timeOf = (name: string) =>
    hasRetention && /^[bd]/.test(name)
      ? clock.us - random(240) * 1e6
      : (random(5) - 2) * 2.6e12 + random(9) * 10
  for (let step = 0; step < STEPS; step++) {
    us += 1_000
    const kind = random(16)
    const name = kind < 6 || kind === 10 ? nameOf() : existing()
    if (kind < 6) {
      const points = new Map<number, ModelPoint>()
      for (let left = 1 + random(5); left > 0; left--) {
        points.set(timeOf(name!), { value: random(100), isBad: random(4) === 0 })
      }
      const columns = makeColumns(points.size)
      ;[...points].forEach(([time, { value, isBad }], i) => {
        columns.times[i] = time
        columns.values[i] = value
        columns.statuses[i] = isBad ? 1 : 0
      })
      await store.write(writeBatch([{ tag: name!, points: columns }], true), signal)
      model = model.write(name!, points)
      done.push(`write ${name} ${[...points.keys()].join(' ')}`)
    } else if (kind < 8) {
      await store.flush()
      done.push('flush')
    } else if (kind === 8) {
      await store.close()
      store = await open()
    } else if (kind === 9) {
      const to = join(base, `backup-${backups.length}`)
      await copyHistorian(systemFiles, folder, to, { mode: 'copy' }, signal)
      backups.push({ folder: to, moment: moments.length })
      done.push('backup')
    } else if (kind === 10) {
      await store.putTags(
        [{ name: name!, description: `${us}`, units: null, stepped: false }],
        'upsert',
        signal,
      )
      model = model.describe(name!, `${us}`)
      done.push(`describe ${name}`)
    } else if (name !== null && kind < 13) {
      const [one, other] = [timeOf(name), timeOf(name)]
      const [from, to] = [Math.min(one, other), Math.max(one, other) + 1]
      await store.deletePoints([{ tag: name, from, to }], false, signal)
      model = model.deletePoints(name, from, to)
      done.push(`delete ${name} ${from} ${to}`)
    } else if (name !== null && kind === 13) {
      const to = nameOf()
      if (!model.tags.has(to)) {
        await store.renameTags([{ from: name, to }], false, signal)
        model = model.rename(name, to)
        done.push(`rename ${name} ${to}`)
      }
    } else if (name !== null && kind === 14) {
      await store.deleteTags([name], false, signal)
      model = model.drop(name)
      done.push(`drop ${name}`)
    } else if (hasRetention && kind === 15) {
      clock.us += random(40) * 1e6
      await store.retain()
      model = model.retain(rules, clock.us)
      done.push(`pass to ${clock.us / 1e6}`)
    }
    assert.equal((await readLife(store)).text, model.text, done.join(', '))
    moments.push({ us, model })
  }
  // The archive ends before the step of the clock that it is closed in.
  us += 1_000
  await store.close()
  return { archive, moments, backups, done }
}

async function restored(base: string, backup: string, archive: string, to: number): Promise<LifeModel> {
  const folder = join(base, `restored-${to}`)
  cpSync(backup, folder, { recursive: true })
  const { version } = await copyHistorian(
    systemFiles,
    folder,
    join(base, `same-${to}`),
    { mode: 'copy' },
    signal,
  )
  let last = version.flushedSequence
  readLog(systemFiles, join(folder, 'wal'), version, null, {
    take({ sequence }) {
      last = sequence
    },
    damaged(damage) {
      throw damage
    },
  })
  const archived = { folder: archiveFolderOf(archive, 'plant', version.id), id: version.id }
  const plan = planReplay(systemFiles, archived, last, to, signal)
  await replayLog(systemFiles, folder, plan, version.accepted, signal)
  const store = await openFileStore(folder, { historian: 'plant', owner: false })
  try {
    assert.deepEqual((await store.check(signal)).problems, [])
    return await readLife(store)
  } finally {
    await store.close()
  }
}

/** What was there is there; what is more lies behind watermarks, which stay those of the backup. */
function assertRestored(found: LifeModel, expected: LifeModel, what: string): void {
  assert.deepEqual([...found.tags.keys()].sort(), [...expected.tags.keys()].sort(), what)
  for (const [name, { description, points }] of expected.tags) {
    const tag = found.tags.get(name)!
    assert.equal(tag.description, description, what)
    for (const [time, point] of points)
      assert.deepEqual(tag.points.get(time), point, `${what}: ${name} at ${time}`)
    for (const time of tag.points.keys()) {
      if (!points.has(time))
        assert.ok(time <= expected.watermarkOf(name), `${what}: ${name} has ${time} again`)
    }
  }
}

for (const hasRetention of [false, true]) {
  test(`any moment of a random life ${hasRetention ? 'with retention ' : ''}is restored from any backup`, async (t) => {
    for (let seed = FIRST; seed < FIRST + LIVES; seed++) {
      const base = temporaryFolder(t)
      const { archive, moments, backups, done } = await live(base, seed, hasRetention)
      const random = randomOf(seed + 1e6)
      for (const [number, backup] of backups.entries()) {
        for (let tries = 0; tries < 3; tries++) {
          const at = backup.moment + random(moments.length - backup.moment)
          const moment = moments[at]
          if (moment === undefined || backup.moment === moments.length) continue
          const to = join(base, `${number}-${tries}`)
          mkdirSync(to)
          const found = await restored(to, backup.folder, archive, moment.us)
          assertRestored(
            found,
            moment.model,
            `life ${seed}, backup ${number}, moment ${at} of ${done.join(', ')}`,
          )
        }
      }
    }
  })
}
