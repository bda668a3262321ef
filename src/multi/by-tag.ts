import type { StoredTag } from '../calc/graph/point-source.ts'
import { WideMap } from '../scheduling/wide-map.ts'

/**
 * Map by stored tag and by a text: a map of each tag, found by its number. Of very many tags one map of all would be
 * looked up all over memory, which took a microsecond each time.
 */
export class ByTag<Value extends object> {
  readonly #tags: (WideMap<Value> | undefined)[] = []

  get({ number }: Pick<StoredTag, 'number'>, key: string): Value | undefined {
    return this.#tags[number]?.get(key)
  }

  set({ number }: Pick<StoredTag, 'number'>, key: string, value: Value): void {
    this.#tags[number] ??= new WideMap()
    this.#tags[number].set(key, value)
  }

  delete({ number }: Pick<StoredTag, 'number'>, key: string): void {
    this.#tags[number]?.delete(key)
  }
}
