import assert from 'node:assert/strict'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'

/*
 * A stream of changes, and the model of what is there after so many of them: writes overwrite one another, now and then
 * one makes a tag, and some points are deleted. What is there says how many there were. Tests restore moments of it.
 */

const START_US = Date.UTC(2026, 0, 1) * 1000
const CYCLE = 40
const { signal } = new AbortController()

/** A change of the stream. */
export type Change =
  | { readonly kind: 'write'; readonly points: Readonly<Record<string, { time: number; value: number }>> }
  /** Of the one point of a tag that has this time. */
  | { readonly kind: 'delete'; readonly tag: string; readonly time: number }

const timeOf = (number: number) => START_US + (number % CYCLE) * 1_000_000

export function changeNumber(number: number): Change {
  // The point of a write that is not overwritten yet, so that a deletion always deletes something.
  if (number % 11 === 0) return { kind: 'delete', tag: 'A', time: timeOf(number - 5) }
  const point = { time: timeOf(number), value: number }
  const points = number % 15 === 0 ? { A: point, [`made-by-${number}`]: point } : { A: point }
  return { kind: 'write', points }
}

/** A change that was sent, and when, by the clock of the machine in microseconds. */
export interface Sent {
  readonly sent: number
  /** Infinity for one that was not acknowledged. */
  acknowledged: number
}

/** What is there after the first changes of the stream, from 1 on. */
export function modelAfter(changes: number): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const model = new Map<string, Map<number, number>>()
  for (let number = 1; number <= changes; number++) {
    const change = changeNumber(number)
    if (change.kind === 'delete') {
      assert.ok(model.get(change.tag)?.delete(change.time))
      continue
    }
    for (const [tag, { time, value }] of Object.entries(change.points)) {
      const points = model.get(tag) ?? new Map<number, number>()
      model.set(tag, points.set(time, value))
    }
  }
  return model
}

/** What a historian has, as the model. */
export async function readModel(folder: string): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const store = await openFileStore(folder, { historian: 'local', owner: false })
  try {
    assert.deepEqual((await store.check(signal)).problems, [])
    const { tags } = await store.searchTags(
      { matches: null, foldedPrefix: '', after: null, limit: 100_000 },
      signal,
    )
    const names = tags.map(({ name }) => name)
    const range = {
      from: Number.MIN_SAFE_INTEGER,
      to: Number.MAX_SAFE_INTEGER,
      order: 'asc',
      limit: 1e6,
    } as const
    const found = await store.readRanges(
      names.map((tag) => ({ tag, ...range })),
      signal,
    )
    return new Map(
      names.map((name, i) => {
        const { times, values } = found[i]!.points
        return [name, new Map(Array.from(times, (time, at) => [time, values[at]!]))]
      }),
    )
  } finally {
    await store.close()
  }
}

/** How many changes of the stream a state has; fails for a state that is not one after so many of them. */
export function changesIn(state: ReadonlyMap<string, ReadonlyMap<number, number>>): number {
  const last = Math.max(0, ...(state.get('A')?.values() ?? []))
  const sorted = (model: ReadonlyMap<string, ReadonlyMap<number, number>>) =>
    [...model].map(([tag, points]) => [tag, [...points].sort(([a], [b]) => a - b)] as const).sort()
  const next = changeNumber(last + 1)
  const isNextThere = next.kind === 'delete' && state.get('A')?.has(next.time) !== true
  const changes = isNextThere ? last + 1 : last
  assert.deepEqual(sorted(state), sorted(modelAfter(changes)))
  return changes
}

/** Fails when a state lacks a change that was acknowledged until a moment, or has one that was sent after it. */
export function assertMoment(changes: number, stream: readonly Sent[], moment: number): void {
  const least = stream.filter(({ acknowledged }) => acknowledged <= moment).length
  const most = stream.filter(({ sent }) => sent <= moment).length
  assert.ok(changes >= least && changes <= most, `${least} <= ${changes} <= ${most}`)
}
