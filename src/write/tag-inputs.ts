import type { Fields } from '../errors/fields.ts'
import { buildFrom, nameOf, parseMembers } from '../json/build.ts'
import type { JsonCuts } from '../json/cuts.ts'
import { fieldNames } from '../json/field-names.ts'
import type { Cut } from '../json/scan.ts'

/** The points of a tag as the body has them, or a part of them. */
export interface TagInput {
  readonly address: string
  readonly input: unknown
  /** Place of the first point of the part in the array of its tag; 0 begins a tag. */
  readonly first: number
}

/** What a body of write/points brings: its fields, and the points of its tags. */
export interface PointsInput {
  /** All fields; `points` only as far as it shows what it is. */
  readonly fields: unknown
  /** In the order of the request; a step without an input is only a place to yield at. May be read again. */
  tags(): Iterable<TagInput | undefined>
}

/** Of a body that was parsed at once. */
export function parsedInput(body: unknown): PointsInput {
  return {
    fields: body,
    *tags() {
      const { points } = body as { readonly points: Fields }
      for (const address of fieldNames(points)) yield { address, input: points[address], first: 0 }
    },
  }
}

/**
 * Of a long body, whose points are read as they stand in the bytes: parsed as a whole they would take several times the
 * memory of the columns that they become.
 * @returns `null` where the points are not an object that was cut open, or stand there twice: the body is then read as
 *          a whole
 */
export function* cutInput(json: JsonCuts): Generator<undefined, PointsInput | null> {
  const { bytes, cuts } = json
  const [root] = cuts
  if (root?.kind !== 'open' || root.isArray) return null
  let fields: Record<string, unknown> = Object.create(null)
  let pointsAt = -1
  for (let place = 1; place < cuts.length - 1; ) {
    const cut = cuts[place]!
    if (cut.kind === 'members') {
      const members = parseMembers(bytes, cut, false) as Record<string, unknown>
      if (Object.hasOwn(members, 'points')) return null
      fields = Object.assign(fields, members)
      place++
      yield
    } else if (cut.kind === 'open') {
      const name = nameOf(bytes, cut)
      if (name === 'points') {
        if (pointsAt >= 0 || cut.isArray) return null
        pointsAt = place
        place = placeBehind(json, place)
      } else {
        const [value, next] = yield* buildFrom(json, place)
        fields[name] = value
        place = next
      }
    }
  }
  if (pointsAt < 0) return null
  return { fields: { ...fields, points: {} }, tags: () => cutTags(json, pointsAt) }
}

/**
 * How many objects, arrays and members are made of a long body before anything is read of them: of everything but its
 * points. Those are made cut by cut where they are an array, and are plain members of arrays where they are columns.
 */
export function valuesMade({ bytes, cuts }: JsonCuts): number {
  const [root] = cuts
  if (root?.kind !== 'open' || root.isArray) return 0
  let made = 0
  let isPoints = false
  const opened: (Cut & { readonly kind: 'open' })[] = []
  for (const cut of cuts) {
    if (cut.kind === 'open') {
      if (opened.length === 1) isPoints = nameOf(bytes, cut) === 'points'
      opened.push(cut)
    } else if (cut.kind === 'close') {
      const { isArray, before } = opened.pop()!
      const values = cut.until.values - before.values
      const depth = opened.length
      if (depth === 0) made += values
      if (!isPoints) continue
      if (depth === 1) made -= values
      // Columns of a tag, or what is no points at all.
      if (depth === 2 && !isArray) made += values - (cut.until.arrayMembers - before.arrayMembers)
      // A long point in the array of a tag.
      if (depth === 3 && opened[2]!.isArray) made += values
      if (depth === 1) isPoints = false
    }
  }
  return made
}

function placeBehind({ cuts }: JsonCuts, open: number): number {
  let depth = 0
  for (let place = open; ; place++) {
    const { kind } = cuts[place]!
    if (kind === 'open') depth++
    else if (kind === 'close' && --depth === 0) return place + 1
  }
}

function* cutTags(json: JsonCuts, open: number): Generator<TagInput | undefined> {
  const { bytes, cuts } = json
  for (let place = open + 1; ; ) {
    const cut = cuts[place]!
    if (cut.kind === 'close') return
    if (cut.kind === 'members') {
      const members = parseMembers(bytes, cut, false) as Record<string, unknown>
      for (const address of Object.keys(members)) yield { address, input: members[address], first: 0 }
      yield
      place++
    } else if (cut.isArray) {
      place = yield* cutArray(json, place, nameOf(bytes, cut))
    } else {
      const [input, next] = yield* buildFrom(json, place)
      yield { address: nameOf(bytes, cut), input, first: 0 }
      place = next
    }
  }
}

function* cutArray(json: JsonCuts, open: number, address: string): Generator<TagInput | undefined, number> {
  const { bytes, cuts } = json
  let first = 0
  for (let place = open + 1; ; ) {
    const cut = cuts[place]!
    if (cut.kind === 'close') return place + 1
    let input: readonly unknown[]
    if (cut.kind === 'members') {
      input = parseMembers(bytes, cut, true) as readonly unknown[]
      place++
    } else {
      const [value, next] = yield* buildFrom(json, place)
      input = [value]
      place = next
    }
    yield { address, input, first }
    yield
    first += input.length
  }
}
