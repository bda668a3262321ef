import { concatColumns, type PointColumns, sliceColumns } from '../series/columns.ts'
import type { WriteBatch } from './contract.ts'

/** The points of one tag. */
export interface TagPoints {
  readonly tag: string
  readonly points: PointColumns
}

/** Puts the points of tags one after the other; copied, unless only one tag has any. */
export function writeBatch(entries: readonly TagPoints[], createTags: boolean): WriteBatch {
  const offsets = new Uint32Array(entries.length + 1)
  entries.forEach(({ points }, index) => {
    offsets[index + 1] = offsets[index]! + points.times.length
  })
  return {
    tags: entries.map(({ tag }) => tag),
    offsets,
    points: concatColumns(entries.map(({ points }) => points)),
    createTags,
  }
}

/** The points of the tag with this index; shares memory with the batch. */
export function pointsOfTag({ offsets, points }: WriteBatch, index: number): PointColumns {
  return sliceColumns(points, offsets[index]!, offsets[index + 1]!)
}
