import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { rowsOf } from './point-writer.ts'
import { tagId } from './tag-id.ts'

function points(...rows: readonly (readonly [number, number])[]): PointColumns {
  const columns = makeColumns(rows.length)
  rows.forEach(([time, value], i) => {
    columns.times[i] = time
    columns.values[i] = value
  })
  return columns
}

function shown(batches: Parameters<typeof rowsOf>[0], names: readonly string[]) {
  const { ids, points: found } = rowsOf(batches)
  return Array.from(found.times, (time, i) => {
    const name = names.find((one) => tagId(one).low === ids[2 * i] && tagId(one).high === ids[2 * i + 1])
    return [name, time, found.values[i]]
  })
}

describe('the rows of an insert', () => {
  test('hold one row per tag and time, the last one given, over all requests of it', () => {
    const first = writeBatch(
      [
        { tag: 'a', points: points([30, 1], [10, 1], [30, 2], [20, 1]) },
        { tag: 'b', points: points([10, 1]) },
        { tag: 'a', points: points([10, 9]) },
        { tag: 'empty', points: points() },
      ],
      true,
    )
    const second = writeBatch([{ tag: 'b', points: points([10, 7], [5, 7]) }], true)
    assert.deepEqual(shown([first, second], ['a', 'b', 'empty']), [
      ['a', 10, 9],
      ['a', 20, 1],
      ['a', 30, 2],
      ['b', 5, 7],
      ['b', 10, 7],
    ])
  })

  test('of no points are none', () => {
    assert.deepEqual(shown([writeBatch([], true)], []), [])
  })
})
