import { constants } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type KeyStore, makeKey, makeKeyRecord } from '../config/keys.ts'
import { sentenceOf } from './exit.ts'
import type { FirstKeyPlace, FirstKeys } from './tools.ts'

/** The file of the first keys, in the data directory. */
const FILE_NAME = 'first-keys.txt'

/**
 * Where the first keys of a start go that nobody looks at: a terminal is read by a person, anything else by the log of
 * the system, which keeps it and shows it to others.
 * @param file    as given by the operator; left out for `first-keys.txt` in the data directory
 * @param dataDir `null` where there is none: then the file must be given
 */
export function firstKeyFile(
  file: string | undefined,
  dataDir: string | null,
  directory: string,
): FirstKeyPlace {
  if (file !== undefined) return filePlace(resolve(directory, file))
  if (dataDir !== null) return filePlace(join(dataDir, FILE_NAME))
  const reason =
    'standard output is no terminal, there is no data directory, and --first-keys-file is not given'
  return { keep: async () => ({ kind: 'not-made', reason }), drop: async () => {} }
}

/** Shows them to the person at the terminal. */
export const SHOWN: FirstKeyPlace = {
  keep: async (keys) => ({ kind: 'shown', ...keys }),
  drop: async () => {},
}

function filePlace(path: string): FirstKeyPlace {
  return {
    keep: async (keys) => {
      try {
        await writePrivate(path, `write ${keys.write}\nread ${keys.read}\n`)
        return { kind: 'file', path } satisfies FirstKeys
      } catch (error) {
        return { kind: 'not-made', reason: `${path} cannot be written: ${sentenceOf(error)}` }
      }
    },
    drop: () => rm(path, { force: true }),
  }
}

/** A file that is not there yet, for its user alone, and on disk when it resolves. */
async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const { O_CREAT, O_EXCL, O_WRONLY } = constants
  const file = await open(path, O_CREAT | O_EXCL | O_WRONLY, 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * One write key and one read key where there never was a key; null otherwise. A store that cannot be reached now does
 * not keep the service from starting: it refuses calls until the store is there.
 */
export async function makeFirstKeys(
  store: KeyStore,
  place: FirstKeyPlace,
  log: { error(fields: object, message: string): void },
  now: number,
): Promise<FirstKeys | null> {
  try {
    return await makeKeysOfFirstStart(store, place, now)
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: string }
    if (code !== 'KEYS_UNAVAILABLE') throw error
    log.error({ code }, `${message}; calls are refused until it is there, and this start made no keys`)
    return null
  }
}

async function makeKeysOfFirstStart(
  store: KeyStore,
  place: FirstKeyPlace,
  now: number,
): Promise<FirstKeys | null> {
  if (await store.firstStartKeysMade()) return null
  const make = (scope: 'read' | 'write') => {
    const record = makeKeyRecord({ name: `first-${scope}`, scope, historians: null, expiresAt: null }, now)
    return { ...makeKey(), record }
  }
  const write = make('write')
  const read = make('read')
  const kept = await place.keep({ write: write.secret, read: read.secret })
  if (kept.kind === 'not-made') return kept
  try {
    if (await store.addFirstStartKeys([write, read])) return kept
  } catch (error) {
    await place.drop()
    throw error
  }
  // Another instance of the same store was faster.
  await place.drop()
  return null
}
