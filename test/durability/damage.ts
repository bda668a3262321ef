import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATABASES } from '../../src/storage/names.ts'

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
