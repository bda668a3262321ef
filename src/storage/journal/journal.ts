import { crc32 } from 'node:zlib'
import type { Changes } from '../changes.ts'
import { Damage } from '../damage.ts'
import type { ReadOptions, Store } from '../environment.ts'
import { decodeRecord, type JournalRecord } from './record.ts'

/**
 * Where the journal stands. Records are numbered within epochs: an epoch is what is folded into blocks together, and while one
 * is being folded the next one takes what arrives.
 */
export interface JournalState {
  /** The oldest epoch that is not folded as a whole; records of earlier ones are only waiting to be removed. */
  readonly first: number
  /** The epoch that takes records: `first`, or the one after it while that is folded. */
  readonly epoch: number
  /** Number of the next record in `epoch`. */
  readonly next: number
}

/** Of a historian that never had a journal. */
export const JOURNAL_BEGINNING: JournalState = { first: 1, epoch: 1, next: 0 }

const KEY_BYTES = 8
/** Key of the state: before those of all records, whose epochs begin at 1. */
const STATE_KEY = new Uint8Array(KEY_BYTES)
const STATE_BYTES = 16

/** Place of a record. */
export interface RecordPlace {
  readonly epoch: number
  readonly number: number
}

/**
 * The journal: accepted writes in the order of their commits, until they are folded into blocks. `journal` holds records
 * (record.ts) under epoch and number (u32 each, big-endian), and the state under eight zero bytes: u32 first, u32 epoch, u32 next,
 * u32 CRC-32 of those.
 */
export class Journal {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Throws Damage. */
  state(options?: ReadOptions): JournalState {
    const bytes = this.#store.get(STATE_KEY, options)
    if (bytes === undefined) return JOURNAL_BEGINNING
    if (bytes.length !== STATE_BYTES) throw new Damage('the state of the journal is wrong')
    const view = new DataView(bytes.buffer, bytes.byteOffset, STATE_BYTES)
    if (crc32(bytes.subarray(0, 12)) !== view.getUint32(12, true)) {
      throw new Damage('the checksum of the state of the journal is wrong')
    }
    return {
      first: view.getUint32(0, true),
      epoch: view.getUint32(4, true),
      next: view.getUint32(8, true),
    }
  }

  /** Adds a record to a change, and gives the state after it, which is put with `putState`. */
  append(changes: Changes, state: JournalState, record: Uint8Array): JournalState {
    changes.putOwned(this.#store, writeKey(changes.key(KEY_BYTES), state.epoch, state.next), record)
    return { ...state, next: state.next + 1 }
  }

  putState(changes: Changes, { first, epoch, next }: JournalState): void {
    const bytes = new Uint8Array(STATE_BYTES)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, first, true)
    view.setUint32(4, epoch, true)
    view.setUint32(8, next, true)
    view.setUint32(12, crc32(bytes.subarray(0, 12)), true)
    changes.put(this.#store, STATE_KEY, bytes)
  }

  /** Gives records in order, from a place on; Damage, which names the record, in place of one that cannot be read. */
  eachFrom(
    { epoch, number }: RecordPlace,
    visit: (record: JournalRecord | Damage, place: RecordPlace) => void,
    options?: ReadOptions,
  ): void {
    const start = writeKey(new Uint8Array(KEY_BYTES), Math.max(epoch, 1), number)
    for (const { key, value } of this.#store.getRange({ start, ...options })) {
      const place = readRecordKey(key as Uint8Array)!
      visit(decodeAt(place, value), place)
    }
  }

  /**
   * Removes records of epochs before `first`, oldest first, at most `limit`. What is left of an epoch is always its end, so that
   * applying it to blocks that hold all of the epoch changes nothing.
   * @returns whether that were all
   */
  removeFolded(changes: Changes, first: number, limit: number): boolean {
    const start = writeKey(new Uint8Array(KEY_BYTES), 1, 0)
    const end = writeKey(new Uint8Array(KEY_BYTES), first, 0)
    let removed = 0
    for (const key of this.#store.getKeys({ start, end, limit: limit + 1 })) {
      if (removed === limit) return false
      changes.remove(this.#store, key as Uint8Array)
      removed++
    }
    return true
  }
}

function decodeAt({ epoch, number }: RecordPlace, value: Uint8Array): JournalRecord | Damage {
  try {
    return decodeRecord(value)
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    return new Damage(`journal record ${epoch}.${number}: ${error.message}`)
  }
}

function writeKey(key: Uint8Array, epoch: number, number: number): Uint8Array {
  putUint32(key, 0, epoch)
  putUint32(key, 4, number)
  return key
}

/** The place of a record by its key; `null` for the key of the state. */
export function readRecordKey(key: Uint8Array): RecordPlace | null {
  const view = new DataView(key.buffer, key.byteOffset, KEY_BYTES)
  const epoch = view.getUint32(0)
  return epoch === 0 ? null : { epoch, number: view.getUint32(4) }
}

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
