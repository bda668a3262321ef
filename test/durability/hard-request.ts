import type { WriteBatch } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'

/**
 * Request number `number`: points of tags t0, t1 and so on, with values of their own that are hard to pack, at times
 * that no other request has.
 */
export function hardRequest(number: number, tags: number, points: number): WriteBatch {
  const entries = Array.from({ length: tags }, (_, tag) => {
    const columns = makeColumns(points)
    for (let i = 0; i < points; i++) {
      columns.times[i] = number * points + i
      columns.values[i] = Math.sqrt(number * points + i + tag)
    }
    return { tag: `t${tag}`, points: columns }
  })
  return writeBatch(entries, true)
}
