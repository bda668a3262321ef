import { type KeyRecord, type KeyStore, makeKey, makeKeyRecord } from '../config/keys.ts'

/**
 * A key store with one key more, which reads one historian and is kept nowhere: it lives as long as this process. The
 * demo prints it at each start, so that a newcomer's first calls work without a look at what was printed the first
 * time.
 */
export function withDemoKey(
  store: KeyStore,
  historian: string,
  now: number,
): { readonly keys: KeyStore; readonly secret: string } {
  const { secret, digest } = makeKey()
  const record = makeKeyRecord({ name: 'demo', scope: 'read', historians: [historian], expiresAt: null }, now)
  const keys: KeyStore = {
    find: async (wanted) => (isSame(wanted, digest) ? record : await store.find(wanted)),
    list: () => store.list(),
    add: (added: KeyRecord, addedDigest: Uint8Array) => store.add(added, addedDigest),
    revoke: (idOrName) => store.revoke(idOrName),
    rotate: (idOrName, replacement, oldExpiresAt) => store.rotate(idOrName, replacement, oldExpiresAt),
    noteUses: (uses) => store.noteUses(uses),
    firstStartKeysMade: () => store.firstStartKeysMade(),
    addFirstStartKeys: (first) => store.addFirstStartKeys(first),
  }
  return { keys, secret }
}

/** In constant time: every byte is looked at. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (const [index, byte] of a.entries()) difference |= byte ^ b[index]!
  return difference === 0
}
