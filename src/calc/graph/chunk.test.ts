import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs } from '../../time/instant.ts'
import { type Chunk, type ChunkStream, chunksWithin, streamOf } from './chunk.ts'

/** A chunk of a raw point at each whole number, whose value is the time, with a break in the middle. */
function chunkOf(from: number, to: number): Chunk {
  const times = Float64Array.from({ length: to - from }, (_, i) => from + i)
  return {
    from: instantFromUs(from),
    to: instantFromUs(to),
    raw: { times, values: times, statuses: new Uint8Array(times.length) },
    breaks: Float64Array.of(from + 2),
    valuesAt: (asked) => asked,
  }
}

function streamed(chunks: readonly Chunk[]): ChunkStream {
  const left = [...chunks]
  return { next: async () => left.shift() ?? null }
}

const partOf = (longer: ChunkStream, from: number, to: number) =>
  streamOf(chunksWithin(longer, { from: instantFromUs(from), to: instantFromUs(to), order: 'asc' }))

test('a part of a longer range begins and ends within chunks of it', async () => {
  const longer = streamed([chunkOf(0, 4), chunkOf(4, 10), chunkOf(10, 14)])
  const stream = partOf(longer, 7, 13)
  const first = await stream.next()
  assert.deepEqual([first?.from, first?.to], [7, 10])
  assert.deepEqual(first?.raw.times, Float64Array.of(7, 8, 9))
  assert.deepEqual(first?.breaks, new Float64Array(0))
  assert.deepEqual(first?.valuesAt(Float64Array.of(7.5), 'at'), Float64Array.of(7.5))
  const last = await stream.next()
  assert.deepEqual([last?.from, last?.to], [10, 13])
  assert.deepEqual(last?.raw.values, Float64Array.of(10, 11, 12))
  assert.deepEqual(last?.breaks, Float64Array.of(12))
  assert.equal(await stream.next(), null)
})

test('or with chunks of it', async () => {
  const stream = partOf(streamed([chunkOf(0, 4), chunkOf(4, 10)]), 4, 10)
  assert.deepEqual((await stream.next())?.breaks, Float64Array.of(6))
  assert.equal(await stream.next(), null)
})
