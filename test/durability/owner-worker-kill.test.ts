import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningService, temporaryFolder, tidemark } from '../cli/run.ts'
import { until } from '../until.ts'
import { KeptModel, KeptPlan } from './kept-plan.ts'
import { KillModel, requestOf, WRITERS } from './kill-plan.ts'
import {
  BackupBeside,
  differenceOfWriter,
  type Found,
  findInFiles,
  findInService,
  historianIn,
  type Models,
  planWatermark,
  startService,
} from './killed-service.ts'
import { PlanWriter } from './plan-writer.ts'
import { VersionWatch } from './version-watch.ts'
import { workersOf } from './worker-processes.ts'

/** Rounds under load, each of which ends by a kill; more with OWNER_WORKER_KILLS=n. */
const ROUNDS = Number(process.env.OWNER_WORKER_KILLS ?? 30)
/** In one of so many rounds a backup is made, which the kill may fall upon: each kind of kill has its turn. */
const BACKED_UP = 4
/** Between two requests to tags with a rule: their points must not be more than a read gives. */
const KEPT_PAUSE_MS = 20

/** Who is killed, in turn: all in both, at once. */
const VICTIMS = ['owner', 'worker', 'both'] as const
type Victims = (typeof VICTIMS)[number]

/** Kills them, and gives whether somebody is left to go on. */
async function killSome(service: RunningService, victims: Victims, round: number): Promise<boolean> {
  const workers = workersOf(service)
  assert.ok(workers.length > 0)
  if (victims !== 'owner') {
    for (const pid of victims === 'both' ? workers : [workers[round % workers.length]!]) {
      process.kill(pid, 'SIGKILL')
    }
  }
  if (victims === 'worker') return true
  await service.kill()
  return false
}

function modelsAt(plan: KeptPlan, plain: readonly number[], kept: number): Models {
  const models: Models = {
    plain: plain.map((_, writer) => new KillModel(writer)),
    kept: new KeptModel(plan),
    plan,
  }
  for (const [writer, model] of models.plain.entries()) model.advanceTo(plain[writer]!)
  models.kept.advanceTo(kept)
  return models
}

const reachedBy = ({ plain, kept }: Models) => ({
  plain: plain.map(({ sequence }) => sequence),
  kept: kept.sequence,
})

/** The first difference between what was found and what must be there. */
function differenceOfAll(found: Found, { plain, kept }: Models): string | null {
  for (const [writer, model] of plain.entries()) {
    const difference = differenceOfWriter(found, writer, model)
    if (difference !== null) return difference
  }
  return kept.differenceOf(found.kept, found.least, found.most)
}

/** What was acknowledged is there after an end of the owner; of each writer one request more may be, wholly. */
function takeUp(found: Found, { plain, kept }: Models, which: string): number {
  let unanswered = 0
  const look = (model: KillModel | KeptModel, difference: () => string | null) => {
    const first = difference()
    if (first === null) return
    model.advanceTo(model.sequence + 1)
    unanswered++
    assert.equal(difference(), null, `${which}: ${first}`)
  }
  for (const [writer, model] of plain.entries()) look(model, () => differenceOfWriter(found, writer, model))
  look(kept, () => kept.differenceOf(found.kept, found.least, found.most))
  return unanswered
}

test('owner, workers or both killed amid changes of all kinds, flushes, merges, retention and backups lose nothing acknowledged', {
  skip: process.platform !== 'linux' && 'looks for processes in /proc',
}, async (t) => {
  const cwd = await temporaryFolder()
  const folder = historianIn(join(cwd, 'data'))
  const plan = new KeptPlan()
  const models = modelsAt(plan, Array(WRITERS).fill(0), 0)
  const watch = new VersionWatch(folder)
  t.after(() => watch.close())
  let service = await startService(cwd)
  const key = service.writeKey
  let unanswered = 0
  let found = 0
  let backups = 0
  /** A watermark that all reads from now on have, or a later one. */
  let watermark = Number.NEGATIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const victims = VICTIMS[round % VICTIMS.length]!
    const which = `round ${round}, ${victims}`
    const before = reachedBy(models)
    const writers = models.plain.map(
      ({ sequence }, writer) => new PlanWriter(service, key, (n) => requestOf(writer, n), sequence),
    )
    const kept = new PlanWriter(service, key, (n) => plan.requestOf(n), models.kept.sequence, KEPT_PAUSE_MS)
    const target = join(cwd, `backup-${round}`)
    const isBackedUp = round % BACKED_UP === BACKED_UP - 1
    const backup = isBackedUp
      ? new BackupBeside(cwd, target, modelsAt(plan, before.plain, before.kept))
      : null
    const least = 10 + Math.floor(Math.random() * 20)
    await until(
      () =>
        writers.every(({ sequence }, writer) => sequence >= before.plain[writer]! + least) &&
        kept.sequence >= before.kept + 3,
      `${which}: the writers get on`,
      5,
    )
    await wait(Math.random() * 10)
    const goesOn = await killSome(service, victims, round)
    await Promise.all([...writers, kept].map((writer) => (goesOn ? writer.stop() : writer.abandon())))
    for (const [writer, { sequence }] of writers.entries()) models.plain[writer]!.advanceTo(sequence)
    models.kept.advanceTo(kept.sequence)
    unanswered += [...writers, kept].reduce((sum, writer) => sum + writer.unanswered, 0)
    if (!goesOn) {
      // Nobody writes the files: they are compared at the very watermark that they have.
      watch.look()
      const left = await findInFiles(folder, WRITERS)
      assert.ok(left.most >= watermark, `${which}: the watermark went back`)
      watermark = left.most
      found += takeUp(left, models, which)
      service = await startService(cwd)
    }
    const there = await findInService(service, key, folder, WRITERS, watermark)
    assert.equal(differenceOfAll(there, models), null, which)
    // It is in all reads once further requests were answered.
    watermark = there.most
    if (backup !== null) {
      await backup.verify(reachedBy(models))
      backups++
      rmSync(target, { recursive: true, force: true })
    }
  }
  // However fast the rounds were, something was hidden in the end.
  await until(() => models.kept.hiddenBy(planWatermark(folder)) > 0, 'points are hidden by retention')
  assert.equal(await service.stop(), 0)
  watch.look()
  const left = await findInFiles(folder, WRITERS)
  assert.equal(differenceOfAll(left, models), null)
  const check = await tidemark(['check'], { cwd })
  assert.equal(check.code, 0, check.stderr)

  const hidden = models.kept.hiddenBy(left.most)
  const { flushes, merges, retentionSteps } = watch
  assert.ok(flushes >= ROUNDS, `${flushes} flushes`)
  assert.ok(merges >= ROUNDS / 3, `${merges} merges`)
  assert.ok(retentionSteps >= ROUNDS, `${retentionSteps} steps of retention`)
  assert.ok(hidden > 0)
  assert.equal(backups, Math.floor(ROUNDS / BACKED_UP))
  const requests = reachedBy(models)
  t.diagnostic(
    `${ROUNDS} kills, ${[...requests.plain, requests.kept].join(' + ')} requests, ${unanswered} tries without an ` +
      `answer, ${found} of them there after a start; ${flushes} flushes, ${merges} merges and ${retentionSteps} steps ` +
      `of retention at least, ${hidden} points hidden; ${backups} backups`,
  )
})
