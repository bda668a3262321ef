import type { Memtable } from '../memtable/memtable.ts'
import type { TagMemory } from './tag-sources.ts'

/** What is in memory of tags at one moment. */
export interface MemoryNow {
  /** Ids of those with points. */
  readonly tags: ReadonlySet<number>
  of(tag: number): Pick<TagMemory, 'layers' | 'tombstones'>
}

/**
 * What is in memory of all tags as it is now. For what looks at the parts of a state while others are let in: a flush
 * meanwhile moves points and tombstones from memory to a part that this state has not.
 */
export function memoryNow(memtable: Memtable): MemoryNow {
  const tags = memtable.tags()
  const known = new Map<number, Pick<TagMemory, 'layers' | 'tombstones'>>()
  const take = (tag: number) => {
    if (known.has(tag)) return
    known.set(tag, { layers: memtable.layers(tag), tombstones: memtable.tombstones(tag) })
  }
  for (const tag of tags) take(tag)
  for (const generation of [memtable.immutable, memtable.active]) {
    for (const { tag } of generation?.tombstones ?? []) take(tag)
  }
  return { tags, of: (tag) => known.get(tag) ?? NOTHING }
}

const NOTHING = { layers: [], tombstones: [] }
