import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs } from '../../time/instant.ts'
import type { Chunk } from './chunk.ts'
import { SharedStream } from './shared-stream.ts'

function chunkOf(from: number): Chunk {
  const none = { times: new Float64Array(0), values: new Float64Array(0), statuses: new Uint8Array(0) }
  return {
    from: instantFromUs(from),
    to: instantFromUs(from + 1),
    raw: none,
    valuesAt: (times) => times,
  }
}

test('streams inside each other let others in after the chunk of each of them, and once for all readers', async () => {
  const events: string[] = []
  const streamOf = (name: string, next: () => Promise<Chunk | null>) => {
    const working = {
      next: async () => {
        const chunk = await next()
        events.push(`${name} works`)
        return chunk
      },
    }
    return new SharedStream(
      working,
      () => true,
      async () => {
        events.push(`${name} pauses`)
      },
    )
  }
  const chunks = [chunkOf(0)]
  const inner = streamOf('inner', async () => chunks.shift() ?? null).reader()!
  const outer = streamOf('outer', () => inner.next())
  const [one, other] = [outer.reader()!, outer.reader()!]
  assert.equal((await one.next())?.from, 0)
  assert.equal((await other.next())?.from, 0)
  assert.deepEqual(events, ['inner works', 'inner pauses', 'outer works', 'outer pauses'])
})
