import { Damage } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { BlockCache } from './block-cache.ts'
import { FilePart } from './file-part.ts'
import { readFooter } from './footer.ts'
import type { PartStore } from './part-store.ts'
import { FilePartWriter } from './part-writer.ts'
import { recoverPart } from './recovered-part.ts'

/**
 * The parts in a folder, which must exist.
 * @param options  `cacheBytes`: what the block cache takes at most, of all parts together
 */
export function openPartStore(
  files: Files,
  folder: string,
  options: { readonly cacheBytes: number },
): PartStore {
  const cache = new BlockCache(options.cacheBytes)
  return {
    open: (info) => FilePart.open(files, folder, info, cache),

    recover: (info, damage, signal) => recoverPart({ files, folder, cache }, info, damage, signal),

    inspect(name) {
      const file = files.open(`${folder}/${name}`)
      try {
        const { info, origin, sections } = readFooter(file)
        if (info.name !== name) throw new Damage('its footer has another name')
        return { info: { ...info, sections }, origin }
      } catch (error) {
        throw error instanceof Damage ? new Damage(`part ${name}: ${error.message}`) : error
      } finally {
        file.close()
      }
    },

    create: (name, origin) => new FilePartWriter(files, folder, name, origin),

    get cachedBytes() {
      return cache.bytes
    },
  }
}
