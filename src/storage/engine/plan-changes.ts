import type { MaybePromise } from '../../historian/maybe-promise.ts'
import { WideMap } from '../../scheduling/wide-map.ts'
import type { CatalogDraft } from '../catalog/tag-catalog.ts'
import type { ReadPace } from '../pause.ts'
import { countPoints } from '../reads/point-reads.ts'
import type { EngineErrors } from './engine-errors.ts'
import type { LayeredBlocks } from './layered-blocks.ts'
import { disjointSpans, type TagSpan } from './tag-spans.ts'

/**
 * What a change that is no write works on: the newest state, which stays the newest as long as it is being worked out.
 */
export interface Draft {
  readonly catalog: CatalogDraft
  readonly pace: ReadPace
  readonly errors: EngineErrors
  /** The points of a tag. Throws Damage when they cannot be read. */
  blocksOf(tag: number): LayeredBlocks
  /** How many points a tag has where that is known without a look at blocks; `null` where it is not. */
  knownCount(tag: number): number | null
  /** Removes the points of a tag in [from, to). */
  remove(tag: number, from: number, to: number): void
  /** The watermark of a tag as it is before the change; NO_WATERMARK for none. */
  watermarkOf(tag: number): number
  /** The one of a name, whether or not there is such a tag. */
  watermarkOfName(name: string): number
  /**
   * Removes what no read shows of a tag because of its watermark: whatever becomes of the points that are kept, or of
   * the watermark, does not bring it back then. Rejects with Damage when they cannot be read.
   */
  removeHidden(tag: number): Promise<void>
}

/** Works out the removal of points and returns how many of each range; one in several ranges counts for the first. */
export async function planSpanDeletes(draft: Draft, ranges: readonly TagSpan[]): Promise<readonly number[]> {
  let isHiddenRemoved = false
  const blocksOf = (index: number) => {
    const id = draft.catalog.idOf(ranges[index]!.tag)
    isHiddenRemoved = false
    return id === 0 ? null : draft.blocksOf(id)
  }
  return countSpans(ranges, draft.pace, blocksOf, ({ tag }, from, to) => {
    const id = draft.catalog.idOf(tag)
    draft.remove(id, from, to)
    if (isHiddenRemoved || from > draft.watermarkOf(id)) return
    isHiddenRemoved = true
    return draft.removeHidden(id)
  })
}

/**
 * How many points each range has; one in several ranges of a tag counts for the first. Tag by tag, in the order in
 * which they come first.
 * @param blocksOf  the points of the tag of a range, by its index; `null` where there is no such tag
 * @param found     called for each span in which there are points, which no others share; waited for
 */
export async function countSpans(
  ranges: readonly TagSpan[],
  pace: ReadPace,
  blocksOf: (index: number) => LayeredBlocks | null,
  found: (range: TagSpan, from: number, to: number) => MaybePromise<void> = () => {},
): Promise<readonly number[]> {
  const counts = ranges.map(() => 0)
  const chains = await chainByTag(ranges, pace)
  for (let first = 0; first < ranges.length; first++) {
    if (chains.isLater[first] === 1) continue
    const indexes = [first]
    for (let index = chains.next[first]!; index !== 0; index = chains.next[index]!) indexes.push(index)
    const blocks = blocksOf(first)
    if (blocks === null) continue
    const spans = indexes.map((index) => ranges[index]!)
    for (const { span, from, to } of await disjointSpans(spans, pace)) {
      const count = await countPoints(blocks, from, to, Number.POSITIVE_INFINITY, pace)
      counts[indexes[span]!]! += count
      const wait = count > 0 ? found(ranges[first]!, from, to) : undefined
      if (wait instanceof Promise) await wait
      if (pace.isDue()) await pace.pause()
    }
  }
  return counts
}

/** The ranges of each tag in their order: arrays, as objects of very many ranges keep the garbage collector busy. */
interface Chains {
  /** 1 for a range that is not the first one of its tag. */
  readonly isLater: Uint8Array
  /** Of each range the index of the next one of its tag; 0 for the last. */
  readonly next: Uint32Array
}

async function chainByTag(ranges: readonly TagSpan[], pace: ReadPace): Promise<Chains> {
  const firsts = new WideMap<number>()
  const isLater = new Uint8Array(ranges.length)
  const next = new Uint32Array(ranges.length)
  /** Of the first range of a tag its last one so far. */
  const last = new Uint32Array(ranges.length)
  for (let index = 0; index < ranges.length; index++) {
    const first = firsts.get(ranges[index]!.tag)
    if (first === undefined) {
      firsts.set(ranges[index]!.tag, index)
      last[index] = index
    } else {
      isLater[index] = 1
      next[last[first]!] = index
      last[first] = index
    }
    if (pace.isDue()) await pace.pause()
  }
  return { isLater, next }
}

/**
 * Works out the removal of tags and returns how many points each had, none for what is damaged. TAG_NOT_FOUND for a
 * missing one.
 */
export async function planTagDeletes(
  draft: Draft,
  names: readonly string[],
  isDamage: (error: unknown) => boolean,
): Promise<readonly number[]> {
  const { catalog, pace, errors } = draft
  // What is made for each of very many tags keeps the garbage collector busy: no records of them, which have texts.
  const ids = new Uint32Array(names.length)
  for (const [i, name] of names.entries()) {
    ids[i] = catalog.idOf(name)
    if (ids[i] === 0) throw errors.tagNotFound(name)
    if (pace.isDue()) await pace.pause()
  }
  const counts: number[] = []
  for (const [i, id] of ids.entries()) {
    // Most of very many have few points, in memory: no promise and no blocks either.
    const known = draft.knownCount(id)
    counts.push(known ?? (await countAll(() => draft.blocksOf(id), pace, isDamage)))
    if (pace.isDue()) await pace.pause()
    catalog.remove({ id, name: names[i]! })
    draft.remove(id, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  }
  return counts
}

/** How many points a tag has; none where they cannot be read, as a damaged tag can be removed, too. */
export async function countAll(
  blocksOf: () => LayeredBlocks,
  pace: ReadPace,
  isDamage: (error: unknown) => boolean,
): Promise<number> {
  try {
    return await countPoints(blocksOf(), -EVER, EVER, Number.POSITIVE_INFINITY, pace)
  } catch (error) {
    if (!isDamage(error)) throw error
    return 0
  }
}

const EVER = Number.MAX_SAFE_INTEGER
