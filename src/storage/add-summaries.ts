import { Arena } from './arena.ts'
import { KEY_BYTES, readBlockKey, TAIL, writeBlockKey } from './block-key.ts'
import { Damage } from './damage.ts'
import type { Bytes, Meta, Store } from './environment.ts'
import { META, SUMMARIES_VERSION } from './names.ts'
import type { Stretch } from './stretch.ts'
import { decodeSummary } from './summary-entry.ts'
import { type BlockSummary, encodePage, PAGE_BLOCKS } from './summary-page.ts'

/**
 * Makes pages of summaries in a historian of format 1. Of a block whose summary cannot be had without reading it the points are read
 * instead, until it is rewritten. One transaction, at the start, before anything is answered; touches no blocks.
 */
export async function addSummaries({
  meta,
  points,
  summaries,
}: {
  readonly meta: Meta
  readonly points: Store
  readonly summaries: Store
}): Promise<void> {
  const version = meta.get(META.summaries)
  if (version === SUMMARIES_VERSION) return
  const hasEntries = version === true
  await summaries.transaction(() => {
    if (!hasEntries) summaries.clearSync()
    for (let tag = nextTag(points, 0); tag !== null; tag = nextTag(points, tag)) {
      const blocks: BlockSummary[] = []
      for (const time of blockTimes(points, tag)) {
        const key = writeBlockKey(new Uint8Array(KEY_BYTES), tag, time)
        blocks.push({ time, stretch: hasEntries ? entryOf(summaries, key) : null })
        if (hasEntries) summaries.remove(key)
      }
      putPages(summaries, tag, blocks)
    }
    meta.put(META.summaries, SUMMARIES_VERSION)
  })
}

/** The first tag with points after one. */
function nextTag(points: Store, tag: number): number | null {
  const start = writeBlockKey(new Uint8Array(KEY_BYTES), tag + 1, Number.MIN_SAFE_INTEGER)
  for (const key of points.getKeys({ start, limit: 1 })) return readBlockKey(key as Uint8Array).tag
  return null
}

function blockTimes(points: Store, tag: number): number[] {
  const start = writeBlockKey(new Uint8Array(KEY_BYTES), tag, Number.MIN_SAFE_INTEGER)
  const end = writeBlockKey(new Uint8Array(KEY_BYTES), tag, TAIL)
  return [...points.getKeys({ start, end })].map((key) => readBlockKey(key as Uint8Array).time)
}

/** `null` also for one that is damaged: the block knows better. */
function entryOf(summaries: Store, key: Uint8Array): Stretch | null {
  const value: Bytes | undefined = summaries.get(key)
  if (value === undefined) return null
  try {
    return decodeSummary(value)
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}

function putPages(summaries: Store, tag: number, blocks: readonly BlockSummary[]): void {
  const arena = new Arena()
  for (let start = 0; start < blocks.length; start += PAGE_BLOCKS) {
    const page = blocks.slice(start, start + PAGE_BLOCKS)
    const time = start + PAGE_BLOCKS >= blocks.length ? TAIL : page[0]!.time
    summaries.put(writeBlockKey(new Uint8Array(KEY_BYTES), tag, time), encodePage(arena, page))
  }
}
