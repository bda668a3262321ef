import { makeColumns, type PointColumns } from '../../src/series/columns.ts'

/*
 * What the processes that are killed write: each writer a sequence of requests that follows from its number alone, so
 * that whoever comes after the kill knows what must be there. Writers write at the same time, each into tags of its
 * own, the next request after the acknowledgement of the one before.
 */

export const WRITERS = 4

export type KillRequest =
  | {
      readonly kind: 'write'
      readonly tags: readonly { readonly tag: string; readonly points: PointColumns }[]
    }
  | {
      readonly kind: 'delete'
      readonly ranges: readonly { readonly tag: string; readonly from: number; readonly to: number }[]
    }
  | { readonly kind: 'drop'; readonly tags: readonly string[] }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'describe'; readonly tags: readonly string[]; readonly description: string }

/**
 * Points at the end, points in between, the same times again and again, a tag that is deleted and made anew, and one
 * that gets another name, under which it is deleted.
 */
const TAGS = ['append', 'backfill', 'overwrite', 'scratch', 'moved', 'archive'] as const

export const tagsOfWriter = (writer: number): string[] => TAGS.map((tag) => `${tag}-${writer}`)

/** Numbers that look random and are the same for the same writer and request. */
function randomOf(writer: number, sequence: number): (below: number) => number {
  let state = Math.imul(writer + 1, 0x9e3779b1) ^ Math.imul(sequence, 0x85ebca6b)
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below
  }
}

/** Backfill falls on so many different times: blocks fill, and then everything is an overwrite. */
const BACKFILL_SLOTS = 6_000
/** Requests whose points of the growing tag are kept. */
const KEPT_REQUESTS = 300
const REQUEST_US = 10_000
/** Of so many requests one renames a tag; the next one deletes it under its new name. */
const RENAMED_AFTER = 13

/** Request number `sequence`, from 1. */
export function requestOf(writer: number, sequence: number): KillRequest {
  const random = randomOf(writer, sequence)
  const [append, backfill, overwrite, scratch, moved, archive] = tagsOfWriter(writer) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  if (sequence % RENAMED_AFTER === 0) return { kind: 'rename', from: moved, to: archive }
  if (sequence > RENAMED_AFTER && sequence % RENAMED_AFTER === 1) return { kind: 'drop', tags: [archive] }
  // Metadata of a tag that is renamed soon, and of one that may have to be made for it.
  if (sequence % 5 === 2)
    return { kind: 'describe', tags: [overwrite, moved], description: `text ${sequence}` }
  if (sequence % 11 === 0) {
    const from = random(BACKFILL_SLOTS) * 50
    const middle = sequence * REQUEST_US - random(20 * REQUEST_US)
    return {
      kind: 'delete',
      ranges: [
        { tag: append, from: 0, to: (sequence - KEPT_REQUESTS) * REQUEST_US },
        { tag: append, from: middle, to: middle + random(3 * REQUEST_US) },
        { tag: backfill, from, to: from + random(20_000) },
        { tag: overwrite, from: 0, to: random(2) * 2_000 },
      ],
    }
  }
  if (sequence % 29 === 0) return { kind: 'drop', tags: [scratch] }
  // Mostly small ones, and now and then one that fills several blocks.
  const many = sequence % 53 === 0 ? 9_000 : 1 + random(40)
  const columns = (count: number, timeOf: (index: number) => number) => {
    const points = makeColumns(count)
    for (let i = 0; i < count; i++) {
      points.times[i] = timeOf(i)
      points.values[i] = random(4) === 0 ? sequence + random(1_000) / 7 : sequence
      points.statuses[i] = random(9) === 0 ? 1 : 0
    }
    return points
  }
  return {
    kind: 'write',
    tags: [
      { tag: append, points: columns(1 + random(40), (index) => sequence * REQUEST_US + index) },
      { tag: backfill, points: columns(many, () => random(BACKFILL_SLOTS) * 50) },
      { tag: overwrite, points: columns(100, (index) => index * 50) },
      { tag: scratch, points: columns(1 + random(5), () => random(1_000)) },
      { tag: moved, points: columns(1 + random(3), () => random(100)) },
    ],
  }
}

/** What must be there of a writer, point by point: value and status by time, by tag. */
export class KillModel {
  readonly tags = new Map<string, Map<number, readonly [value: number, status: number]>>()
  /** Descriptions of tags that have one. */
  readonly descriptions = new Map<string, string>()
  readonly #writer: number
  /** The last request that is part of it. */
  sequence = 0

  constructor(writer: number) {
    this.#writer = writer
    for (const tag of tagsOfWriter(writer)) this.tags.set(tag, new Map())
  }

  /** Goes on until a request is part of it. */
  advanceTo(sequence: number): void {
    while (this.sequence < sequence) this.#apply(requestOf(this.#writer, ++this.sequence))
  }

  #apply(request: KillRequest): void {
    if (request.kind === 'drop') {
      for (const tag of request.tags) {
        this.tags.get(tag)!.clear()
        this.descriptions.delete(tag)
      }
    } else if (request.kind === 'describe') {
      for (const tag of request.tags) this.descriptions.set(tag, request.description)
    } else if (request.kind === 'rename') {
      const description = this.descriptions.get(request.from)
      this.descriptions.delete(request.from)
      if (description !== undefined) this.descriptions.set(request.to, description)
      this.tags.set(request.to, this.tags.get(request.from)!)
      this.tags.set(request.from, new Map())
    } else if (request.kind === 'delete') {
      for (const { tag, from, to } of request.ranges) {
        const points = this.tags.get(tag)!
        for (const time of points.keys()) if (time >= from && time < to) points.delete(time)
      }
    } else {
      for (const { tag, points } of request.tags) {
        const known = this.tags.get(tag)!
        points.times.forEach((time, at) => {
          known.set(time, [points.values[at]!, points.statuses[at]!])
        })
      }
    }
  }

  /** Why the description of a tag is not the one that must be there; `null` when it is. */
  differenceOfText(tag: string, description: string | null): string | null {
    const expected = this.descriptions.get(tag) ?? null
    return description === expected
      ? null
      : `${tag} after request ${this.sequence}: ${description} and not ${expected}`
  }

  /** Why the points of a tag are not those that must be there; `null` when they are. */
  differenceOf(tag: string, { times, values, statuses }: PointColumns): string | null {
    const expected = this.tags.get(tag)!
    const after = `${tag} after request ${this.sequence}:`
    if (times.length !== expected.size) return `${after} ${times.length} points and not ${expected.size}`
    for (let at = 0; at < times.length; at++) {
      const point = expected.get(times[at]!)
      if (point === undefined) return `${after} a point at ${times[at]} that is none`
      if (point[0] !== values[at] || point[1] !== statuses[at]) {
        return `${after} ${values[at]} (${statuses[at]}) at ${times[at]} and not ${point[0]} (${point[1]})`
      }
    }
    return null
  }
}
