import type { FileHandle, Files } from '../../src/storage/files/files.ts'
import type { Random } from './random.ts'

const DELAYED: ReadonlySet<string | symbol> = new Set(['read', 'write', 'sync'])

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
  const delayed = (file: FileHandle): FileHandle =>
    new Proxy(file, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (!DELAYED.has(name)) return value.bind(target)
        return async (...args: unknown[]) => {
          await wait()
          const result: unknown = await value.apply(target, args)
          await wait()
          return result
        }
      },
    })
  return new Proxy(files, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name === 'open' || name === 'edit' || name === 'create')
        return (path: string) => delayed(target[name](path))
      return value.bind(target)
    },
  })
}
