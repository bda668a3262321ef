import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './error-answer.ts'

/** How long pieces are made between two turns of the event loop: other calls wait no longer. */
const SLICE_MS = 2

/**
 * The payload of a reply for JSON that is made piece by piece, as UTF-8, to be returned by the handler. A short one goes out
 * whole, with its length; a longer one flows as fast as the client takes it, and never stands in memory as a whole. When
 * making a later piece fails, the connection is cut, so that the client cannot take the answer for complete.
 */
export function sendPieces(reply: FastifyReply, pieces: Iterable<Uint8Array>): Buffer | Readable {
  reply.type(JSON_TYPE)
  const iterator = pieces[Symbol.iterator]()
  const first = iterator.next()
  if (first.done === true) return Buffer.alloc(0)
  const second = iterator.next()
  if (second.done === true) return bufferOf(first.value)
  return new PieceStream(first.value, second.value, iterator)
}

class PieceStream extends Readable {
  /** Made already, and to go out before the rest. */
  readonly #made: Uint8Array[]
  readonly #rest: Iterator<Uint8Array>
  #spentMs = 0

  constructor(first: Uint8Array, second: Uint8Array, rest: Iterator<Uint8Array>) {
    super()
    this.#made = [second, first]
    this.#rest = rest
  }

  override _read(): void {
    const made = this.#made.pop()
    if (made !== undefined) this.push(bufferOf(made))
    else if (this.#spentMs < SLICE_MS) this.#pushNext()
    else {
      setImmediate(() => {
        this.#spentMs = 0
        if (!this.destroyed) this.#pushNext()
      })
    }
  }

  #pushNext(): void {
    const began = performance.now()
    let next: IteratorResult<Uint8Array>
    try {
      next = this.#rest.next()
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    this.#spentMs += performance.now() - began
    this.push(next.done === true ? null : bufferOf(next.value))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // The client went away: whatever makes the pieces lets go of what it holds.
    this.#rest.return?.()
    done(error)
  }
}

/** The same bytes, seen as what streams take. */
function bufferOf(piece: Uint8Array): Buffer {
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
