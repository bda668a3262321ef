import { compareNames } from '../../series/tag-names.ts'
import type { EntryView } from '../catalog/tag-entry.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import { compareName } from '../catalog/text-compare.ts'
import { sortedInSteps } from '../sorted-in-steps.ts'
import type { SearchPace } from './tag-search.ts'

/** Keeps the first so many records in the order of their names, each tag once, in memory for twice as many. */
export class FirstInOrder {
  readonly #limit: number
  #records: TagRecord[] = []
  /** No record that comes behind this name is wanted. */
  #last: { readonly text: string; readonly utf8: Uint8Array } | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether a tag would be among the first. */
  wants(entry: EntryView): boolean {
    return this.#last === null || compareName(entry, this.#last) < 0
  }

  /** Whether it is to be trimmed before the next record. */
  get isFull(): boolean {
    return this.#records.length >= 2 * this.#limit + 64
  }

  add(record: TagRecord): void {
    this.#records.push(record)
  }

  async inOrder(pace: SearchPace): Promise<readonly TagRecord[]> {
    await this.trim(pace)
    return this.#records
  }

  /** Sorts the records in steps, and keeps the first of them. Nothing is to be added meanwhile. */
  async trim(pace: SearchPace): Promise<void> {
    const all = this.#records
    const compare = (a: number, b: number) => compareNames(all[a]!.name, all[b]!.name) || a - b
    const unsorted = new Uint32Array(all.length)
    for (let i = 0; i < unsorted.length; i++) unsorted[i] = i
    const kept: TagRecord[] = []
    for (const place of await sortedInSteps(unsorted, compare, pace)) {
      if (kept.length === this.#limit) break
      const record = all[place]!
      if (record.name !== kept.at(-1)?.name) kept.push(record)
      if (pace.isDue()) await pace.pause()
    }
    this.#records = kept
    if (kept.length < this.#limit) return
    const text = kept.at(-1)!.name
    this.#last = { text, utf8: Buffer.from(text) }
  }
}
