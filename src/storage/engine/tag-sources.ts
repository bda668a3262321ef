import { lowerBound, sliceColumns } from '../../series/columns.ts'
import { isUnreadable } from '../damage.ts'
import type { SummedColumns } from '../memtable/block-summaries.ts'
import type { PartInfo, Tombstone } from '../parts/part.ts'
import { keptPoints } from '../retention/kept-points.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import { IntactBlocks, type LayerOf } from './intact-blocks.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import type { LivePart, PartSet } from './part-set.ts'
import { retainedSources } from './retained-sources.ts'
import { joinSpans, MemorySource, PartSource, type Source, type TimeSpan } from './sources.ts'

/** What is in memory of a tag: its points, and what it takes away from parts; and its watermark. */
export interface TagMemory {
  /** `null` without any. */
  readonly columns: SummedColumns | null
  readonly tombstones: readonly Tombstone[]
  /** Points at or before it are gone but for those that retention keeps; NO_WATERMARK for none. */
  readonly watermark: number
}

/** The points of a tag in a state. Throws Damage when a part that may hold some cannot be read. */
export function blocksOf(
  tag: number,
  set: Pick<PartSet, 'parts' | 'tombstones'>,
  memory: TagMemory,
): LayeredBlocks {
  const sources: Source[] = []
  const tombstones = tombstonesOf(tag, set, memory)
  for (const { info, part, damage } of set.parts) {
    if (damage !== null) {
      // What it takes away of other parts is not known either.
      if (info.points > 0 || info.tombstones > 0) throw damage
      continue
    }
    if (!part!.has(tag)) continue
    sources.push(new PartSource(part!, tag, cutsOf(tombstones, info)))
  }
  if (memory.columns !== null) sources.push(new MemorySource(memory.columns))
  const { watermark } = memory
  return new LayeredBlocks(watermark === NO_WATERMARK ? sources : retainedSources(sources, watermark))
}

/**
 * The same without what is damaged of a range, in which alone points may be looked for. Throws Damage where it is not
 * known what a part that cannot be read takes away from others.
 */
export function intactBlocksOf(
  tag: number,
  set: Pick<PartSet, 'parts' | 'tombstones'>,
  memory: TagMemory,
  { from, to }: TimeSpan,
): IntactBlocks {
  const { watermark } = memory
  const layers: LayerOf[] = from <= watermark ? [keptLayer(tag, set, memory)] : []
  const tombstones = tombstonesOf(tag, set, memory)
  for (const live of set.parts) {
    const { info, damage } = live
    if (damage !== null && info.tombstones > 0) throw damage
    if (info.points === 0 || info.lastTime < from || info.firstTime >= to) continue
    if (info.lastTime <= watermark || live.part?.has(tag) === false) continue
    layers.push(layerOf(tag, live, withHidden(cutsOf(tombstones, info), watermark)))
  }
  const columns = memory.columns === null ? null : after(memory.columns, watermark)
  if (columns !== null && columns.times.length > 0) {
    layers.push({ source: new MemorySource(columns), cuts: [], damaged: null })
  }
  return new IntactBlocks(layers)
}

/** The points that stay at or before a watermark; nothing is known of them where any part is damaged. */
function keptLayer(tag: number, set: Pick<PartSet, 'parts' | 'tombstones'>, memory: TagMemory): LayerOf {
  const { watermark } = memory
  try {
    const kept = keptPoints(blocksOf(tag, set, { ...memory, watermark: NO_WATERMARK }), watermark)
    const source = kept.times.length === 0 ? null : new MemorySource(kept)
    return { source, cuts: [], damaged: null }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return { source: null, cuts: [], damaged: { from: Number.NEGATIVE_INFINITY, to: watermark + 1 } }
  }
}

/** Spans that are gone, and what a watermark hides; joined. */
function withHidden(cuts: readonly TimeSpan[], watermark: number): readonly TimeSpan[] {
  if (watermark === NO_WATERMARK) return cuts
  return joinSpans([...cuts, { from: Number.NEGATIVE_INFINITY, to: watermark + 1 }])
}

function after(columns: SummedColumns, watermark: number): SummedColumns {
  if (watermark === NO_WATERMARK) return columns
  const { times } = columns
  return sliceColumns(columns, lowerBound(times, watermark + 1), times.length)
}

function layerOf(tag: number, { info, part }: LivePart, cuts: readonly TimeSpan[]): LayerOf {
  const damaged = { from: info.firstTime, to: info.lastTime + 1 }
  if (part === null) return { source: null, cuts, damaged }
  const source = new PartSource(part, tag, cuts)
  try {
    // Where its blocks are must be known.
    void source.run
    return { source, cuts, damaged: null }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return { source: null, cuts, damaged }
  }
}

/** What takes points of a part away; joined. */
function cutsOf(tombstones: readonly Tombstone[], { lastSequence }: PartInfo): readonly TimeSpan[] {
  return tombstones.length === 0
    ? tombstones
    : joinSpans(tombstones.filter(({ sequence }) => sequence > lastSequence))
}

function tombstonesOf(
  tag: number,
  set: Pick<PartSet, 'tombstones'>,
  { tombstones }: TagMemory,
): readonly Tombstone[] {
  const stored = set.tombstones(tag)
  return stored.length === 0 ? tombstones : [...stored, ...tombstones]
}
