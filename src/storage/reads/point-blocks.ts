import type { PointColumns } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import type { BlockView } from '../blocks/block.ts'
import type { ReadPace } from '../pause.ts'

/** Takes all points of a range, in time order. */
export interface ZoneMapSink {
  /** A run of points by its zone map; false when its points are needed, which then come. */
  takeZoneMap(zoneMap: ZoneMap): boolean
  /** The points are not to be kept: they lie in memory that is used again. */
  takePoints(points: PointColumns): void
  /**
   * All points of [from, to) that a block in view has, by the summaries of its chunks or as points; false when each
   * chunk is to be given by itself.
   */
  takeBlock?(view: BlockView, from: number, to: number): boolean
  /** How many steps, of some microseconds each, were done since the last question; 1 of each block when left out. */
  steps?(): number
  /** Whether nothing more is wanted; asked now and then. */
  isDone?(): boolean
}

/**
 * All points of one tag in one state, found by time as blocks that are in time order and do not overlap, whatever they
 * are stored in.
 *
 * After a `seek` that gives true, `view` is the block that was found, until the next seek or any other read. With a
 * bound they may give false when no point is there up to it, and look no further. All throw Damage when what they find
 * cannot be read.
 */
export interface PointBlocks {
  readonly view: BlockView
  /** Views the last block that begins at or before `at`. @param from  no earlier point is wanted */
  seekBefore(at: number, from?: number): boolean
  /** Views the first block that begins at or after `at`. @param to  all points that are wanted are before it */
  seekAfter(at: number, to?: number): boolean
  /**
   * Views the last block before `at` that may have a good point there: one that has none is passed over, unread, where
   * its summary says so. The block in view may have none all the same, and may have points behind `at`.
   * @param from  no earlier point is wanted
   */
  seekGoodBefore(at: number, from?: number): boolean
  /** Views the first block after `at` that may have a good point there, in the same way; it may begin before `at`. */
  seekGoodAfter(at: number): boolean
  /** Views the block with the first point at or after `at`. @param to  all points that are wanted are before it */
  seekCovering(at: number, to?: number): boolean
  /** Gives the points of [from, to) to a sink: by summaries where the sink takes those, and the rest as points. */
  eachZoneMap(from: number, to: number, pace: ReadPace, sink: ZoneMapSink): Promise<void>
}
