import { lowerBound, sliceColumns } from '../../series/columns.ts'
import { joinSpans, type Span } from '../blocks/spans.ts'
import { Damage, damageOf, isUnreadable } from '../damage.ts'
import { MEMORY_BLOCK_POINTS, type SummedColumns } from '../memtable/block-summaries.ts'
import type { PartInfo, Tombstone } from '../parts/part.ts'
import { concatTombstones, MANY_TOMBSTONES } from '../parts/tombstones-of-tags.ts'
import { keptPoints } from '../retention/kept-points.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import { IntactBlocks, type LayerOf } from './intact-blocks.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import type { LivePart, PartSet } from './part-set.ts'
import { retainedSources } from './retained-sources.ts'
import { DamagedSource, MemorySource, PartSource, type Source } from './sources.ts'

/** What is in memory of a tag: its points, and what it takes away from parts; and its watermark. */
export interface TagMemory {
  /** Of points of the same time that of the last one counts; none empty. */
  readonly layers: readonly SummedColumns[]
  readonly tombstones: readonly Tombstone[]
  /** Points at or before it are gone but for those that retention keeps; NO_WATERMARK for none. */
  readonly watermark: number
}

/** What is looked at of a version. */
export type TagParts = Pick<PartSet, 'parts' | 'tombstones' | 'lostTombstones'>

/** The points of a tag in a state. A look at times of what cannot be read throws Damage. */
export function blocksOf(tag: number, set: TagParts, memory: TagMemory): LayeredBlocks {
  const sources: Source[] = []
  const tombstones = tombstonesOf(tag, set, memory)
  for (const live of set.parts) {
    const source = sourceOf(tag, live, set, tombstones)
    if (source !== null) sources.push(source)
  }
  for (const columns of memory.layers) sources.push(memorySource(columns, memory))
  const { watermark } = memory
  return new LayeredBlocks(watermark === NO_WATERMARK ? sources : retainedSources(sources, watermark))
}

/** The points of a tag in a part; `null` without any. */
function sourceOf(
  tag: number,
  live: LivePart,
  set: TagParts,
  tombstones: readonly Tombstone[],
): Source | null {
  const { info, part, damage } = live
  if (info.points === 0 || part?.has(tag) === false) return null
  const cuts = cutsOf(tombstones, info)
  // Where its blocks are is looked for at once only beside damage: others may hold the points that a read needs.
  if (damage === null && !isBefore(info, set.lostTombstones)) return new PartSource(part!, tag, cuts)
  const found = foundSource(tag, live, set, cuts)
  return found instanceof Damage ? new DamagedSource(info, found) : found
}

/** The points of a tag in a part that may have some, and whose blocks are found; Damage where they cannot be read. */
function foundSource(
  tag: number,
  { info, part, damage }: LivePart,
  { lostTombstones }: TagParts,
  cuts: readonly Span[],
): PartSource | Damage {
  // What was taken away of it is not known.
  if (isBefore(info, lostTombstones)) return lostTombstones!.damage!
  if (part === null) return damage!
  const source = new PartSource(part, tag, cuts)
  try {
    void source.run
    return source
  } catch (error) {
    return damageOf(error)
  }
}

/** Whether tombstones of another part may take points of a part away. */
function isBefore({ lastSequence }: PartInfo, other: LivePart | null): boolean {
  return other !== null && lastSequence < other.info.lastSequence
}

/** The same without what is damaged of a range, in which alone points may be looked for. */
export function intactBlocksOf(
  tag: number,
  set: TagParts,
  memory: TagMemory,
  { from, to }: Span,
): IntactBlocks {
  const { watermark } = memory
  const layers: LayerOf[] = from <= watermark ? [keptLayer(tag, set, memory)] : []
  const tombstones = tombstonesOf(tag, set, memory)
  for (const live of set.parts) {
    const { info } = live
    if (info.points === 0 || info.lastTime < from || info.firstTime >= to) continue
    if (info.lastTime <= watermark || live.part?.has(tag) === false) continue
    layers.push(layerOf(tag, live, set, withHidden(cutsOf(tombstones, info), watermark)))
  }
  for (const layer of memory.layers) {
    const columns = after(layer, watermark)
    if (columns.times.length > 0)
      layers.push({ source: memorySource(columns, memory), cuts: [], damaged: null })
  }
  return new IntactBlocks(layers)
}

/** The points that stay at or before a watermark; nothing is known of them where what is damaged may have them. */
function keptLayer(tag: number, set: TagParts, memory: TagMemory): LayerOf {
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
function withHidden(cuts: readonly Span[], watermark: number): readonly Span[] {
  if (watermark === NO_WATERMARK) return cuts
  return joinSpans([...cuts, { from: Number.NEGATIVE_INFINITY, to: watermark + 1 }])
}

function after(columns: SummedColumns, watermark: number): SummedColumns {
  if (watermark === NO_WATERMARK) return columns
  const { times } = columns
  return sliceColumns(columns, lowerBound(times, watermark + 1), times.length)
}

function layerOf(tag: number, live: LivePart, set: TagParts, cuts: readonly Span[]): LayerOf {
  const { firstTime, lastTime } = live.info
  const found = foundSource(tag, live, set, cuts)
  return found instanceof Damage
    ? { source: null, cuts, damaged: { from: firstTime, to: lastTime + 1 } }
    : { source: found, cuts, damaged: null }
}

/** Points that lie among others in memory are merged with those of a block at a time. */
function memorySource(columns: SummedColumns, { layers }: TagMemory): MemorySource {
  return layers.length === 1 ? new MemorySource(columns) : new MemorySource(columns, MEMORY_BLOCK_POINTS)
}

/** What takes points of a part away; joined. */
function cutsOf(tombstones: readonly Tombstone[], info: PartInfo): readonly Span[] {
  if (tombstones.length === 0) return tombstones
  if (tombstones.length < MANY_TOMBSTONES) return joinCuts(tombstones, info)
  return knownCuts
    .getOrInsertComputed(tombstones, () => new Map())
    .getOrInsertComputed(info.name, () => joinCuts(tombstones, info))
}

/** Of lists of many tombstones, by name of the part: what they take away from it. */
const knownCuts = new WeakMap<readonly Tombstone[], Map<string, readonly Span[]>>()

function joinCuts(
  tombstones: readonly Tombstone[],
  { firstTime, lastTime, lastSequence }: PartInfo,
): readonly Span[] {
  return joinSpans(
    tombstones.filter(
      ({ sequence, from, to }) => sequence > lastSequence && from <= lastTime && to > firstTime,
    ),
  )
}

function tombstonesOf(
  tag: number,
  set: Pick<PartSet, 'tombstones'>,
  { tombstones }: TagMemory,
): readonly Tombstone[] {
  return concatTombstones(set.tombstones(tag), tombstones)
}
