import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyBytes } from './body-bytes.ts'
import { BodyMemory } from './body-memory.ts'

const KB = 1_024

test('memory that was given back is taken again, and never by two at a time', () => {
  const memory = new BodyMemory()
  const first = memory.take(500 * KB)
  const second = memory.take(500 * KB)
  assert.notEqual(first.buffer, second.buffer)
  memory.giveBack(first)
  assert.equal(memory.take(510 * KB).buffer, first.buffer)
  assert.notEqual(memory.take(500 * KB).buffer, first.buffer)
})

test('a body takes no memory that is too short or much too long for it', () => {
  const memory = new BodyMemory()
  memory.giveBack(memory.take(100 * KB))
  assert.ok(memory.take(200 * KB).length >= 200 * KB)
  memory.giveBack(memory.take(3_000 * KB))
  assert.ok(memory.take(300 * KB).length < 400 * KB)
})

test('little is kept', () => {
  const memory = new BodyMemory()
  const large = memory.take(64 * KB * KB)
  memory.giveBack(large)
  assert.notEqual(memory.take(64 * KB * KB).buffer, large.buffer)
  const all = Array.from({ length: 100 }, () => memory.take(KB * KB))
  for (const buffer of all) memory.giveBack(buffer)
  const again = Array.from({ length: 100 }, () => memory.take(KB * KB).buffer)
  assert.equal(all.filter(({ buffer }) => again.includes(buffer)).length, 4)
})

test('a body that is released twice gives its memory back once', () => {
  const memory = new BodyMemory()
  const body = new BodyBytes(100 * KB, memory)
  body.add(Buffer.alloc(10 * KB))
  const { buffer } = body.bytes
  body.release()
  body.release()
  assert.equal(memory.take(100 * KB).buffer, buffer)
  assert.notEqual(memory.take(100 * KB).buffer, buffer)
})
