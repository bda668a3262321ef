import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Limit } from '../../graph/chunk.ts'
import { AnswerTable } from './answer-table.ts'

const COLUMNS: Readonly<Record<Limit, readonly number[]>> = {
  at: [1, 0, 1, 1],
  before: [Number.NaN, 1, 0, 1],
  after: [1, 0, Number.NaN, 1],
}

function table(asked: Limit[] = []): AnswerTable {
  return new AnswerTable(Float64Array.of(10, 20, 30, 40), (_, limit) => {
    asked.push(limit)
    return Float64Array.from(COLUMNS[limit])
  })
}

test('between two instants the answer is what it is right after the first', () => {
  const times = Float64Array.of(10, 11, 19, 20, 25, 30, 31, 40, 45)
  const none = Number.NaN
  assert.deepEqual([...table().valuesAt(times, 'at')], [1, 1, 1, 0, 0, 1, none, 1, 1])
  assert.deepEqual([...table().valuesAt(times, 'before')], [none, 1, 1, 1, 0, 0, none, 1, 1])
  assert.deepEqual([...table().valuesAt(times, 'after')], [1, 1, 1, 0, 0, none, none, 1, 1])
})

test('one time among many instants is searched for, and each column worked out once', () => {
  const asked: Limit[] = []
  const one = table(asked)
  assert.deepEqual([...one.valuesAt(Float64Array.of(25), 'at')], [0])
  assert.deepEqual([...one.valuesAt(Float64Array.of(30), 'at')], [1])
  assert.deepEqual([...one.valuesAt(new Float64Array(0), 'at')], [])
  assert.deepEqual(asked.sort(), ['after', 'at'])
})
