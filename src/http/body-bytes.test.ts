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
