import { compareNames } from '../../series/tag-names.ts'
import type { EntryView } from '../catalog/tag-entry.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import { compareName } from '../catalog/text-compare.ts'

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

  add(record: TagRecord): void {
    this.#records.push(record)
    if (this.#records.length >= 2 * this.#limit + 64) this.#trim()
  }

  inOrder(): readonly TagRecord[] {
    this.#trim()
    return this.#records
  }

  #trim(): void {
    this.#records.sort((a, b) => compareNames(a.name, b.name))
    this.#records = this.#records.filter(({ name }, index, all) => name !== all[index - 1]?.name)
    this.#records = this.#records.slice(0, this.#limit)
    if (this.#records.length < this.#limit) return
    const text = this.#records.at(-1)!.name
    this.#last = { text, utf8: Buffer.from(text) }
  }
}
