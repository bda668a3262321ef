import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { type Outcome, type RunningService, serve, tidemark } from '../cli/run.ts'
import { freePort } from '../servers/required.ts'
import { untilDone } from '../until.ts'
import { type FoundTag, KEPT_RULES, KEPT_TAGS, type KeptModel, type KeptPlan } from './kept-plan.ts'
import { isUnanswered, readService, START_MS } from './kill-calls.ts'
import { type KillModel, tagsOfWriter } from './kill-plan.ts'
import { SMALL_LIMITS } from './small-limits.ts'
import { newestVersion, watermarkIn } from './version-watch.ts'

/* What is there of all that is written to a service that is killed, in the service, its files and its backups. */

export type Models = {
  readonly plain: readonly KillModel[]
  readonly kept: KeptModel
  readonly plan: KeptPlan
}

/** Starts a service that flushes, merges and moves watermarks all the time. */
export async function startService(cwd: string): Promise<RunningService> {
  const config = { historians: { local: { type: 'embedded', retention: KEPT_RULES } } }
  writeFileSync(join(cwd, 'tidemark.yaml'), JSON.stringify(config))
  // Workers of the one before may still have its port.
  const args = ['--workers', '2', '--port', String(await freePort())]
  return await serve(args, { cwd, env: { TIDEMARK_LOG_LEVEL: 'error', ...SMALL_LIMITS } })
}

export const historianIn = (dataDirectory: string) => join(dataDirectory, 'historians', 'local')

/** Watermark of a historian, as a time of the plan. */
export const planWatermark = (folder: string) => watermarkIn(newestVersion(folder)) - START_MS * 1_000

/** All that can be compared of one state: tags by name, and the watermark between two. */
export interface Found {
  readonly plain: ReadonlyMap<string, FoundTag>
  readonly kept: ReadonlyMap<string, FoundTag>
  readonly least: number
  readonly most: number
}

/** Reads all tags of a service. @param least  a watermark that counted before */
export async function findInService(
  service: RunningService,
  key: string,
  folder: string,
  writers: number,
  least: number,
): Promise<Found> {
  // Connections of a worker that was killed fail.
  const read = (tags: readonly string[], around: number) =>
    untilDone(() => readService(service, key, tags, around), isUnanswered)
  const plain = new Map<string, FoundTag>()
  for (let writer = 0; writer < writers; writer++) {
    for (const [name, tag] of await read(tagsOfWriter(writer), START_MS)) plain.set(name, tag)
  }
  const kept = await read(KEPT_TAGS, Date.now())
  return { plain, kept, least, most: planWatermark(folder) }
}

const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

/** Reads all tags from files that nobody writes, at the watermark that they have. */
export async function findInFiles(folder: string, writers: number): Promise<Found> {
  const { signal } = new AbortController()
  const watermark = planWatermark(folder)
  const store = await openFileStore(folder, { historian: 'local', owner: false })
  try {
    const find = async (tags: readonly string[]) => {
      const records = await store.findTags(tags, signal)
      const there = tags.filter((_, i) => records[i] != null)
      const ranges = there.map((tag) => ({ tag, ...EVER }))
      const read = await store.readRanges(ranges, signal)
      return new Map(
        there.map((tag, i) => {
          const { times, values, statuses } = read[i]!.points
          const points = makeColumns(times.length)
          times.forEach((time, at) => {
            points.times[at] = time - START_MS * 1_000
          })
          points.values.set(values)
          points.statuses.set(statuses)
          const record = records.find((one) => one?.name === tag)!
          return [tag, { points, description: record.description }] as const
        }),
      )
    }
    const tags = Array.from({ length: writers }, (_, writer) => tagsOfWriter(writer)).flat()
    const [plain, kept] = [await find(tags), await find(KEPT_TAGS)]
    assert.deepEqual((await store.check(signal)).problems, [])
    return { plain, kept, least: watermark, most: watermark }
  } finally {
    await store.close()
  }
}

/** Why the tags of a writer are not as its model says; `null` when they are. */
export function differenceOfWriter(found: Found, writer: number, model: KillModel): string | null {
  for (const tag of tagsOfWriter(writer)) {
    // A tag that was deleted, or has another name, has nothing.
    const { points, description } = found.plain.get(tag) ?? { points: makeColumns(0), description: null }
    const difference = model.differenceOf(tag, points) ?? model.differenceOfText(tag, description)
    if (difference !== null) return difference
  }
  return null
}

/** A backup that is made beside a service, with how far the requests had got when it began. */
export class BackupBeside {
  readonly #folder: string
  readonly #cwd: string
  readonly #models: Models
  readonly #made: Promise<Outcome>

  /** @param models  what was acknowledged by now; they are advanced to what a backup of this moment has */
  constructor(cwd: string, folder: string, models: Models) {
    this.#cwd = cwd
    this.#folder = folder
    this.#models = models
    this.#made = tidemark(['backup', folder], { cwd })
  }

  /**
   * Verifies it: it is whole, and of each writer it has one moment.
   * @param until  the last request that may be in it, of each writer, and of the tags with a rule
   */
  async verify(until: { readonly plain: readonly number[]; readonly kept: number }): Promise<void> {
    const made = await this.#made
    assert.equal(made.code, 0, made.stderr)
    const check = await tidemark(['check', '--data-dir', this.#folder], { cwd: this.#cwd })
    assert.equal(check.code, 0, check.stderr)
    const found = await findInFiles(historianIn(this.#folder), until.plain.length)
    for (const [writer, model] of this.#models.plain.entries()) {
      toMoment(model, until.plain[writer]!, () => differenceOfWriter(found, writer, model))
    }
    const { kept } = this.#models
    toMoment(kept, until.kept, () => kept.differenceOf(found.kept, found.least, found.most))
  }
}

/** Goes on with a model until there is no difference. */
function toMoment(model: KillModel | KeptModel, until: number, difference: () => string | null): void {
  const from = model.sequence
  for (let last = difference(); last !== null; last = difference()) {
    assert.ok(model.sequence < until, `a backup is of no moment from request ${from} to ${until}: ${last}`)
    model.advanceTo(model.sequence + 1)
  }
}
