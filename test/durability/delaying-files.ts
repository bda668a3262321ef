import { changedFiles } from '../../src/storage/files/changed-files.fixture.ts'
import type { Files } from '../../src/storage/files/files.ts'
import type { Random } from './random.ts'

/** Other work that a call of the file layer lets in at most: turns of the event loop. */
const MOST_TURNS = 6

/**
 * A file layer in which each call that is waited for takes some turns of the event loop, before and after it is made:
 * so what is done at the same time meets it in another order with each seed.
 */
export function delaying(files: Files, random: Random): Files {
  const wait = async () => {
    for (let turns = random(MOST_TURNS); turns > 0; turns--)
      await new Promise((resolve) => setImmediate(resolve))
  }
  const delayed = async <T>(call: () => Promise<T>): Promise<T> => {
    await wait()
    const result = await call()
    await wait()
    return result
  }
  return changedFiles(files, (file) => ({
    read: (target, at) => delayed(() => file.read(target, at)),
    write: (bytes, at) => delayed(() => file.write(bytes, at)),
    sync: () => delayed(() => file.sync()),
  }))
}
