import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BodyBytes } from './body-bytes.ts'
import { BodyMemory } from './body-memory.ts'

test('the bytes come back as they came, whatever was announced and came before', () => {
  const memory = new BodyMemory()
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 9 })),
      fc.nat({ max: 60 }),
      (chunks, announced) => {
        const all = Buffer.concat(chunks)
        for (const length of [announced, all.length, 0]) {
          const body = new BodyBytes(length, memory)
          for (const chunk of chunks) body.add(Buffer.from(chunk))
          assert.equal(body.length, all.length)
          assert.deepEqual(Buffer.from(body.bytes), all)
          body.release()
        }
      },
    ),
  )
})

test('short chunks are put together, also between long ones, and their memory is free at once', () => {
  const body = new BodyBytes(0, new BodyMemory())
  const all: Buffer[] = []
  for (let i = 0; i < 200; i++) {
    const chunk = Buffer.allocUnsafeSlow(i % 50 === 49 ? 5_000 : 1_500).fill(i)
    all.push(Buffer.from(chunk))
    body.add(chunk)
    assert.equal(chunk.length, i % 50 === 49 ? 5_000 : 0)
  }
  assert.ok(body.bytes.equals(Buffer.concat(all)))
  assert.ok(body.bytes.equals(Buffer.concat(all)))
})

test('the memory of what was copied is free at once', () => {
  const body = new BodyBytes(100_000, new BodyMemory())
  const own = Buffer.allocUnsafeSlow(60_000).fill(1)
  const part = Buffer.allocUnsafeSlow(60_000).fill(2).subarray(0, 40_000)
  body.add(own)
  body.add(part)
  assert.equal(own.length, 0)
  // Of others' memory nothing is taken.
  assert.equal(part.length, 40_000)
  assert.ok(body.bytes.equals(Buffer.concat([Buffer.alloc(60_000, 1), Buffer.alloc(40_000, 2)])))
})

test('a long body that is announced takes memory as it comes, and comes back as it was', () => {
  const chunkBytes = 300_000
  const chunks = Array.from({ length: 20 }, (_, i) => Buffer.allocUnsafeSlow(chunkBytes).fill(i))
  const all = Buffer.concat(chunks)
  for (const announced of [all.length, all.length + 1, 64 * 1_048_576, all.length - 1]) {
    const memory = new BodyMemory()
    const taken: number[] = []
    const take = memory.take.bind(memory)
    memory.take = (bytes) => {
      taken.push(bytes)
      return take(bytes)
    }
    const body = new BodyBytes(announced, memory)
    for (const [i, chunk] of chunks.entries()) {
      body.add(Buffer.from(chunk))
      assert.ok(taken.at(-1)! <= Math.max(1_048_576, 5 * (i + 1) * chunkBytes))
    }
    assert.ok(Buffer.from(body.bytes).equals(all))
    body.release()
  }
})
