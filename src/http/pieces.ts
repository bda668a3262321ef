import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './error-answer.ts'

/** Pieces made between two turns of the event loop: other calls wait for no more than a few milliseconds. */
const PIECES_PER_TURN = 4

/**
 * Sends JSON that is made piece by piece, as UTF-8. A short one goes out whole, with its length; a longer one flows as fast
 * as the client takes it, and never stands in memory as a whole. When making a later piece fails, the connection is cut, so
 * that the client cannot take the answer for complete.
 */
export function sendPieces(reply: FastifyReply, pieces: Iterable<Uint8Array>): FastifyReply {
  reply.type(JSON_TYPE)
  const iterator = pieces[Symbol.iterator]()
  const first = iterator.next()
  if (first.done === true) return reply.send('')
  const second = iterator.next()
  if (second.done === true) return reply.send(bufferOf(first.value))
  return reply.send(Readable.from(paced(first.value, second.value, iterator), { objectMode: false }))
}

async function* paced(
  first: Uint8Array,
  second: Uint8Array,
  rest: Iterator<Uint8Array>,
): AsyncGenerator<Buffer> {
  try {
    yield bufferOf(first)
    yield bufferOf(second)
    for (let made = 1; ; made++) {
      if (made % PIECES_PER_TURN === 0) await setImmediate()
      const next = rest.next()
      if (next.done === true) return
      yield bufferOf(next.value)
    }
  } finally {
    // The client went away: whatever makes the pieces lets go of what it holds.
    rest.return?.()
  }
}

/** The same bytes, seen as what streams take. */
function bufferOf(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
