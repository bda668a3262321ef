import { createHash } from 'node:crypto'
import type { Alias } from '../../src/aliases/store.ts'
import type { NewKey } from '../../src/config/keys.ts'
import type { DatabaseAliasStore } from '../../src/storage/system/alias-database.ts'
import type { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import { allow } from '../contract/alias-store-promises.ts'

/*
 * Changes of keys and aliases that are made one after the other, the first one number 1: so what is there says how many
 * were made.
 */

/** Aliases by turns: each is changed again and again. */
const ALIASES = 40
/** So many changes are of aliases for each of a key. */
const KEY_EVERY = 5

const isOfKey = (number: number) => number % KEY_EVERY === 0

export function keyOf(number: number): NewKey {
  const id = number.toString(16).padStart(10, '0')
  const record = {
    id,
    name: `key ${number}`,
    scope: 'read',
    historians: null,
    createdAt: number,
    expiresAt: null,
    revokedAt: null,
  } as const
  return { record, digest: createHash('sha256').update(id).digest() } as NewKey
}

const aliasOf = (number: number): Alias => ({
  name: `alias ${number % ALIASES}`,
  tag: `plant/T${number}`,
  description: null,
  units: null,
})

/** Makes the change with a number. */
export async function makeChange(
  number: number,
  { keys, aliases }: { readonly keys: DatabaseKeyStore; readonly aliases: DatabaseAliasStore },
): Promise<void> {
  if (isOfKey(number)) {
    const { record, digest } = keyOf(number)
    await keys.add(record, digest)
  } else await aliases.put(aliasOf(number), allow)
}

/** What is there after so many changes: the names of keys, and tags by alias. */
export function stateAfter(count: number): {
  readonly keys: readonly string[]
  readonly aliases: ReadonlyMap<string, string>
} {
  const keys: string[] = []
  const aliases = new Map<string, string>()
  for (let number = 1; number <= count; number++) {
    if (isOfKey(number)) keys.push(keyOf(number).record.name)
    else aliases.set(aliasOf(number).name, aliasOf(number).tag)
  }
  return { keys, aliases }
}
