import assert from 'node:assert/strict'
import { makeColumns, type PointColumns, STATUS_BAD, STATUS_OK } from '../../src/series/columns.ts'
import type { RunningService } from '../cli/run.ts'
import { type KillModel, type KillRequest, tagsOfWriter } from './kill-plan.ts'

/* What kill-plan.ts plans, as calls of a service. */

/** Where the times of the plan begin. */
export const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const PREFIX = 'local/'

const addressOf = (tag: string) => PREFIX + tag
/** A time of the plan as milliseconds with their microseconds as a fraction. */
const msOf = (us: number) => START_MS + us / 1_000
const usOf = (ms: number) => Math.round((ms - START_MS) * 1_000)

/** Path and body of the call that makes a request. */
function callOf(request: KillRequest): readonly [path: string, body: object] {
  switch (request.kind) {
    case 'write': {
      const points = request.tags.map(({ tag, points: { times, values, statuses } }) => [
        addressOf(tag),
        {
          timestamps: Array.from(times, msOf),
          values: [...values],
          statuses: Array.from(statuses, (status) => (status === STATUS_OK ? 'OK' : 'BAD')),
          unit: 'ms',
        },
      ])
      return ['/historian/write/points', { createTags: true, points: Object.fromEntries(points) }]
    }
    case 'delete': {
      const ranges: Record<string, object[]> = {}
      for (const { tag, from, to } of request.ranges) {
        // A call must not have an empty one.
        if (from >= to) continue
        ranges[addressOf(tag)] ??= []
        ranges[addressOf(tag)]!.push({ from: msOf(from), to: msOf(to) })
      }
      return ['/historian/delete/points', { ranges }]
    }
    case 'rename':
      return ['/historian/metadata/rename', { renames: { [addressOf(request.from)]: addressOf(request.to) } }]
    case 'describe': {
      const entries = request.tags.map((tag) => [addressOf(tag), { description: request.description }])
      return ['/historian/metadata/create', { entries: Object.fromEntries(entries), updateIfExists: true }]
    }
    case 'drop':
      return ['/historian/metadata/delete', { tags: request.tags.map(addressOf) }]
  }
}

/** Whether a call failed as nobody answered it, or not to the end. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof TypeError && error.cause !== undefined

/**
 * Makes a request. Rejects when nothing answers: then it may be there or not.
 * @param isAgain  whether it was made before and may be there: then its tags may be gone or have the other name
 */
export async function callService(
  service: RunningService,
  key: string,
  request: KillRequest,
  isAgain: boolean,
): Promise<void> {
  const [path, sent] = callOf(request)
  const { status, body } = await service.post(path, sent, key)
  if (status === 400 && isAgain && (request.kind === 'rename' || request.kind === 'drop')) {
    const codes = (body.issues as { readonly code: string }[]).map(({ code }) => code)
    assert.ok(codes.includes('TAG_NOT_FOUND'), JSON.stringify(body))
    return
  }
  assert.equal(status, 200, `${request.kind}: ${JSON.stringify(body)}`)
  if (request.kind === 'describe') assert.deepEqual(body.errors, {})
  if (request.kind === 'write') assert.equal(body.message, 'All points written!', JSON.stringify(body))
}

/** Compares all that a service gives of a writer's tags with what must be there; gives the first difference. */
export async function differenceOfService(
  service: RunningService,
  key: string,
  writer: number,
  model: KillModel,
): Promise<string | null> {
  const found = await readService(service, key, tagsOfWriter(writer), START_MS)
  for (const tag of tagsOfWriter(writer)) {
    // A tag that was deleted, or has another name, has nothing.
    const { points, description } = found.get(tag) ?? { points: makeColumns(0), description: null }
    const difference = model.differenceOf(tag, points) ?? model.differenceOfText(tag, description)
    if (difference !== null) return difference
  }
  return null
}

/**
 * Points and descriptions of tags that exist, by name, as a service gives them.
 * @param aroundMs  no point is a day before or after it
 */
export async function readService(
  service: RunningService,
  key: string,
  tags: readonly string[],
  aroundMs: number,
): Promise<ReadonlyMap<string, { readonly points: PointColumns; readonly description: string | null }>> {
  const details = { from: aroundMs - DAY_MS, to: aroundMs + DAY_MS, maxPoints: 16_000 }
  const requests = tags.map((tag) => [tag, { type: 'RAW_POINTS', tag: addressOf(tag), details }])
  const read = await service.post(
    '/historian/multi',
    { format: 'columns', requests: Object.fromEntries(requests) },
    key,
  )
  assert.equal(read.status, 200, JSON.stringify(read.body))
  const metadata = await service.post('/historian/metadata/get', { tags: tags.map(addressOf) }, key)
  assert.equal(metadata.status, 200, JSON.stringify(metadata.body))
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into
  const [results, entries] = [read.body.results as any, metadata.body.entries as any]
  return new Map(
    tags.flatMap((tag) => {
      const sentence = (read.body.errors as Readonly<Record<string, string>>)[tag]
      if (sentence !== undefined) {
        assert.match(sentence, /does not exist$/)
        return []
      }
      const description: string | null = entries[addressOf(tag)]?.description ?? null
      return [[tag, { points: columnsOf(results[tag].dataPoints), description }] as const]
    }),
  )
}

function columnsOf(answer: {
  readonly timestamps: readonly number[]
  readonly values: readonly number[]
  /** Left out where all are OK. */
  readonly statuses?: readonly string[]
}): PointColumns {
  const points = makeColumns(answer.timestamps.length)
  answer.timestamps.forEach((ms, i) => {
    points.times[i] = usOf(ms)
    points.values[i] = answer.values[i]!
    points.statuses[i] = answer.statuses?.[i] === 'BAD' ? STATUS_BAD : STATUS_OK
  })
  return points
}
