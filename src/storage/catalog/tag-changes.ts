import { Damage } from '../damage.ts'
import type { TagFields } from './tag-catalog.ts'
import { EntryView, EntryWriter } from './tag-entry.ts'
import { MAX_TAG_ID } from './tag-record.ts'

/**
 * Changes of tags as bytes: u8 version 1, then changes one behind the other, each u8 kind, varint id, and what its kind
 * needs. Each says what is afterwards and nothing of what was before, so that changes that were applied already can be
 * applied again.
 */
const CHANGES_VERSION = 1
const FIRST_CHANGE = 1
const PUT = 1
const REMOVE = 2
const NEXT_ID = 3

/**
 * Writes changes; new tags, changed ones and those under another name are all the same: a tag's entry as it is to be.
 */
export class ChangeWriter {
  readonly #writer = new EntryWriter()

  get length(): number {
    return this.#writer.length
  }

  put(id: number, fields: TagFields): void {
    this.#begin(PUT, id)
    this.#writer.putEntry(fields)
  }

  /** @param entry  as EntryWriter.putEntry writes it */
  putEntry(id: number, entry: Uint8Array): void {
    this.#begin(PUT, id)
    this.#writer.putBytes(entry)
  }

  /** @param changes  as `take` gave them */
  putChanges(changes: Uint8Array): void {
    this.#writer.putBytes(this.#writer.length === 0 ? changes : changes.subarray(1))
  }

  remove(id: number): void {
    this.#begin(REMOVE, id)
  }

  /** No tag to come has a lower id. */
  nextId(id: number): void {
    this.#begin(NEXT_ID, id)
  }

  /** What was written since the last call; `null` for nothing. */
  take(): Buffer | null {
    return this.#writer.length === 0 ? null : this.#writer.take()
  }

  #begin(kind: number, id: number): void {
    if (this.#writer.length === 0) this.#writer.putByte(CHANGES_VERSION)
    this.#writer.putByte(kind)
    this.#writer.putVarint(id)
  }
}

/** Takes changes in their order. */
export interface ChangeTarget {
  /** @param entry  lent until the call ends */
  put(id: number, entry: EntryView): void
  remove(id: number): void
  nextId(id: number): void
}

const view = new EntryView()

/** Verifies changes; gives the place of the first one. Throws Damage. */
export function verifyChanges(changes: Uint8Array): number {
  verifySomeChanges(changes, verifyVersion(changes), Number.POSITIVE_INFINITY)
  return FIRST_CHANGE
}

/** Verifies what is before the first change; gives the place of that. Throws Damage. */
export function verifyVersion(changes: Uint8Array): number {
  if (changes.length === 0 || changes[0] !== CHANGES_VERSION)
    throw new Damage('changes of tags have an unknown version')
  return FIRST_CHANGE
}

/** Verifies at most so many changes from the one at a place on; gives where to go on. Throws Damage. */
export function verifySomeChanges(changes: Uint8Array, from: number, most: number): number {
  const bytes = bufferOf(changes)
  let at = from
  for (let count = 0; count < most && at < bytes.length; count++) {
    const kind = bytes[at]!
    const id = readId(bytes, at + 1, true)
    at = idEnd
    // A next id may lie behind the highest one.
    if (id === 0 || id > MAX_TAG_ID + (kind === NEXT_ID ? 1 : 0)) throw new Damage(`${id} is no id of a tag`)
    if (kind === PUT) at = view.seekVerified(bytes, at, bytes.length).end
    else if (kind !== REMOVE && kind !== NEXT_ID)
      throw new Damage(`changes of tags hold the unknown kind ${kind}`)
  }
  return at
}

/** Hands verified changes over, from the one at a place on. */
export function readChanges(changes: Uint8Array, from: number, target: ChangeTarget): void {
  const bytes = bufferOf(changes)
  for (let at = from; at < bytes.length; ) {
    const kind = bytes[at]!
    const id = readId(bytes, at + 1, false)
    at = idEnd
    if (kind === PUT) {
      at = view.seek(bytes, at).end
      target.put(id, view)
    } else if (kind === REMOVE) target.remove(id)
    else target.nextId(id)
  }
}

/** Takes changes as long as it can. */
export interface PickyTarget {
  takes(id: number, isPut: boolean): boolean
  put: ChangeTarget['put']
  remove: ChangeTarget['remove']
}

/**
 * Hands over, of verified changes from the one at a place on, at most so many; ends before the first one that the
 * target does not take.
 * @returns where to go on
 */
export function readSomeChanges(
  changes: Uint8Array,
  from: number,
  most: number,
  target: PickyTarget,
): number {
  const bytes = bufferOf(changes)
  let at = from
  for (let count = 0; count < most && at < bytes.length; count++) {
    const kind = bytes[at]!
    const id = readId(bytes, at + 1, false)
    const behind = idEnd
    if (kind === NEXT_ID || !target.takes(id, kind === PUT)) break
    if (kind === PUT) {
      at = view.seek(bytes, behind).end
      target.put(id, view)
    } else {
      at = behind
      target.remove(id)
    }
  }
  return at
}

/** Where the id that was read last ends. */
let idEnd = 0

function readId(bytes: Buffer, start: number, verify: boolean): number {
  let at = start
  let id = 0
  let byte = 128
  for (let scale = 1; byte >= 128; scale *= 128) {
    if (verify && (at >= bytes.length || scale > 2 ** 28)) throw new Damage('the id of a tag cannot be read')
    byte = bytes[at++]!
    id += (byte & 127) * scale
  }
  idEnd = at
  return id
}

function bufferOf(changes: Uint8Array): Buffer {
  return Buffer.from(changes.buffer, changes.byteOffset, changes.length)
}
