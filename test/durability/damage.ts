import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATA_FILE, DATABASES } from '../../src/storage/names.ts'

/** What becomes of an entry: other bytes, `null` to remove it, undefined to leave it. */
export type Harm = (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined

/**
 * Damages entries of a database of an embedded historian that nobody has open, as a fault of the disk would: behind the back of
 * everything that goes with them.
 * @returns how many entries were harmed
 */
export async function harmEntries(
  folder: string,
  database: keyof typeof DATABASES,
  harm: Harm,
): Promise<number> {
  const root = openEnvironment(folder)
  try {
    const store = openDatabase(root, DATABASES[database])
    let harmed = 0
    await root.transaction(() => {
      const entries: { readonly key: Uint8Array; readonly value: Uint8Array }[] = []
      for (const { key, value } of store.getRange({ start: Buffer.of(0) })) {
        // Copied one by one: the next one is read into the same memory.
        entries.push({
          key: new Uint8Array(key as Uint8Array),
          value: new Uint8Array(value.subarray(0, value.length)),
        })
      }
      for (const { key, value } of entries) {
        const changed = harm(key, value)
        if (changed === undefined) continue
        harmed++
        if (changed === null) store.remove(key)
        else store.put(key, changed)
      }
    })
    return harmed
  } finally {
    await root.close()
  }
}

/** The bytes with one bit turned over. */
export function withWrongBit(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const changed = new Uint8Array(bytes)
  changed[at]! ^= 1 << bit
  return changed
}

/**
 * Damages the leaf of an environment that holds a key, behind lmdb's back, which then reports an error whenever it comes by; also while it
 * is open.
 * @returns what mends it
 */
export function harmLeaf(folder: string, key: Uint8Array): () => void {
  const path = join(folder, DATA_FILE)
  const bytes = readFileSync(path)
  const pages: number[] = []
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1))
    pages.push(Math.floor(at / 4096))
  const leaves = [...new Set(pages)].filter((page) => bytes.readUInt16LE(page * 4096 + 18) === 2)
  if (leaves.length === 0) throw new Error('no leaf holds the key')
  // Earlier states of the leaf can be there still: that of the last transaction is the one in use.
  const transactionOf = (page: number) => bytes.readBigUInt64LE(page * 4096 + 8)
  const leaf = leaves.reduce((last, page) => (transactionOf(page) > transactionOf(last) ? page : last))
  const setFlags = (flags: number) => {
    const file = openSync(path, 'r+')
    writeSync(file, Uint8Array.of(flags, 0), 0, 2, leaf * 4096 + 18)
    closeSync(file)
  }
  setFlags(0x10)
  return () => setFlags(2)
}
