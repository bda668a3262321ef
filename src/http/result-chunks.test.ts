import assert from 'node:assert/strict'
import test from 'node:test'
import { hasLongField, resultChunks } from './result-chunks.ts'

function textOf(body: object): string {
  return Buffer.concat([...resultChunks(body)]).toString()
}

function objectOf(count: number): Record<string, unknown> {
  const object: Record<string, unknown> = Object.create(null)
  Object.defineProperty(object, '__proto__', { value: 'a field like any other', enumerable: true })
  for (let i = 0; i < count; i++) object[`a/"${i}"é`] = i % 2 === 0 ? i : { tag: [i] }
  return object
}

test('an answer in chunks is what JSON.stringify makes of it', () => {
  for (const body of [
    {},
    { message: 'done', errors: [], left: undefined, nothing: null },
    { message: 'done', deleted: objectOf(999), errors: [] },
    { message: 'done', deleted: objectOf(1_000), errors: Array.from({ length: 1_001 }, (_, i) => `e${i}`) },
    {
      handledEntries: objectOf(5_432),
      errors: {},
      issues: Array.from({ length: 3_000 }, (_, i) => ({ code: i })),
    },
  ]) {
    assert.equal(textOf(body), JSON.stringify(body))
  }
})

test('a Map stands for an object of its entries', () => {
  for (const count of [0, 1, 1_000, 1_001, 5_000]) {
    const object = objectOf(count)
    const body = { handledEntries: object, errors: {} }
    const map = new Map(Object.entries(object))
    assert.equal(textOf({ handledEntries: map, errors: new Map() }), JSON.stringify(body))
    assert.equal(hasLongField({ entries: map }), true, 'JSON.stringify makes nothing of a Map')
  }
})

test('a long field makes chunks, and only that', () => {
  assert.equal(hasLongField({ message: 'x'.repeat(10_000), errors: [1], deleted: objectOf(10) }), false)
  const body = { deleted: objectOf(10_000) }
  assert.equal(hasLongField(body), true)
  assert.ok([...resultChunks(body)].length > 10)
})
