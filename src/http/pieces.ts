import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './error-answer.ts'

/** How long pieces are made between two turns of the event loop: other calls wait no longer. */
const SLICE_MS = 2
/** Pieces that are on their way at once: the client reads one while the next one is made. */
const MOST_UNDER_WAY = 2

/** Whom a piece goes back to when it has been sent, and its memory may be used again. */
export interface PieceOwner {
  giveBack(piece: Uint8Array): void
}

/**
 * The payload of a reply for JSON that is made piece by piece, as UTF-8, to be returned by the handler. A short one goes out
 * whole, with its length; a longer one flows as fast as the client takes it, and never stands in memory as a whole. When
 * making a later piece fails, the connection is cut, so that the client cannot take the answer for complete.
 */
export function sendPieces(
  reply: FastifyReply,
  pieces: Iterable<Uint8Array>,
  owner: PieceOwner,
): Buffer | Readable {
  reply.type(JSON_TYPE)
  const iterator = pieces[Symbol.iterator]()
  const first = iterator.next()
  if (first.done === true) return Buffer.alloc(0)
  const second = iterator.next()
  if (second.done === true) return bufferOf(first.value)
  return new PieceStream([first.value, second.value], iterator, owner)
}

/**
 * Pieces on their way to a socket or a compressor. Nothing but `pipe` reads them: a stream's own buffers do not tell when a
 * piece has left them, and only then its memory can be given back.
 */
class PieceStream extends Readable {
  /** Made already, and to go out before the rest. */
  readonly #made: Uint8Array[]
  readonly #rest: Iterator<Uint8Array>
  readonly #owner: PieceOwner
  #spentMs = 0
  #underWay = 0
  #isWaiting = false
  #isComplete = false

  constructor(made: Uint8Array[], rest: Iterator<Uint8Array>, owner: PieceOwner) {
    super({ read() {} })
    this.#made = made
    this.#rest = rest
    this.#owner = owner
  }

  override pipe<To extends NodeJS.WritableStream>(to: To, options?: { end?: boolean }): To {
    if (options?.end !== false) this.once('end', () => to.end())
    this.#flow(to)
    return to
  }

  /** Sends until enough is under way; goes on when some of that has gone out, or after other calls had their turn. */
  #flow(to: NodeJS.WritableStream): void {
    while (this.#underWay < MOST_UNDER_WAY && !this.#isWaiting && !this.#isComplete && !this.destroyed) {
      if (this.#spentMs >= SLICE_MS) {
        this.#isWaiting = true
        setImmediate(() => {
          this.#isWaiting = false
          this.#spentMs = 0
          this.#flow(to)
        })
        return
      }
      const piece = this.#next()
      if (piece === null) return
      this.#underWay++
      to.write(bufferOf(piece), (error) => {
        this.#underWay--
        // What a broken connection still holds of it is not known.
        if (error !== null && error !== undefined) return
        this.#owner.giveBack(piece)
        this.#flow(to)
      })
    }
  }

  /** The next piece; null after the last one, whereupon the stream ends, and after a failure, which destroys it. */
  #next(): Uint8Array | null {
    const made = this.#made.shift()
    if (made !== undefined) return made
    const began = performance.now()
    try {
      const next = this.#rest.next()
      this.#spentMs += performance.now() - began
      if (next.done !== true) return next.value
      this.#isComplete = true
      this.push(null)
      // Nobody reads a stream that is piped in this way: reading makes it say that it has ended.
      this.resume()
    } catch (error) {
      this.destroy(error as Error)
    }
    return null
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
