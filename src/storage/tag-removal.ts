import type { BlockView } from './block.ts'
import { KEY_BYTES, readBlockKey, TAIL, writeBlockKey } from './block-key.ts'
import type { Changes } from './changes.ts'
import { Damage } from './damage.ts'
import type { Store } from './environment.ts'
import type { Snapshot } from './snapshot.ts'
import type { BlockAccess } from './tag-blocks.ts'

/** Blocks looked at between two rests at least: a cursor is only kept within one turn of the event loop. */
const STRETCH = 64

/**
 * Works out the removal of all points of a tag, and counts them. A damaged block is removed like any other, which is how a
 * damaged tag is got rid of; its points are not counted.
 * @param changes  `null` only counts
 */
export async function removeAllBlocks(
  changes: Changes | null,
  access: BlockAccess,
  tag: number,
  snapshot: Snapshot,
): Promise<number> {
  let count = 0
  let from: number | null = Number.MIN_SAFE_INTEGER
  while (from !== null) {
    const start: Uint8Array = writeBlockKey(new Uint8Array(KEY_BYTES), tag, from)
    const end = writeBlockKey(new Uint8Array(KEY_BYTES), tag, TAIL)
    let looked = 0
    from = null
    const entries = access.points.getRange({ start, end, inclusiveEnd: true, ...snapshot.options })
    for (const { key, value } of entries) {
      const { time } = readBlockKey(key as Uint8Array)
      if (looked++ === STRETCH) {
        from = time
        break
      }
      count += countOf(access.view, value)
      changes?.removeBlock(tag, time)
    }
    if (snapshot.isDue()) await snapshot.rest()
  }
  if (changes !== null) removePages(changes, access.summaries!, tag, snapshot)
  return count
}

/** Their keys alone are read: damaged ones go, too. */
function removePages(changes: Changes, summaries: Store, tag: number, snapshot: Snapshot): void {
  const start = writeBlockKey(new Uint8Array(KEY_BYTES), tag, Number.MIN_SAFE_INTEGER)
  const end = writeBlockKey(new Uint8Array(KEY_BYTES), tag, TAIL)
  for (const key of summaries.getKeys({ start, end, inclusiveEnd: true, ...snapshot.options })) {
    changes.removePage(tag, readBlockKey(key as Uint8Array).time)
  }
}

function countOf(view: BlockView, value: Uint8Array): number {
  try {
    return view.open(value, value.length).count
  } catch (error) {
    if (error instanceof Damage) return 0
    throw error
  }
}
