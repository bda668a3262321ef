import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { TimeSlice } from '../scheduling/time-slice.ts'
import { JSON_TYPE } from './error-answer.ts'

/** Time slice for making chunks within one tick of the event loop: other calls wait no longer. */
const SLICE_MS = 2
/** Bound of chunks in flight: the client reads one while the next one is made. */
const MOST_UNDER_WAY = 2

/** Buffer pool that a chunk is given back to when it has been sent, and its memory may be used again. */
export interface ChunkOwner {
  giveBack(chunk: Uint8Array): void
}

/**
 * Streamed payload of a reply: JSON that is made chunk by chunk, as UTF-8, to be returned by the handler. A short one
 * goes out whole, with its length; a longer one flows as fast as the client takes it, and never stands in memory as a
 * whole. When making a later chunk fails, the connection is cut, so that the client cannot take the answer for
 * complete.
 */
export function sendChunks(
  reply: FastifyReply,
  chunks: Iterable<Uint8Array>,
  owner: ChunkOwner,
): Buffer | Readable {
  reply.type(JSON_TYPE)
  const iterator = chunks[Symbol.iterator]()
  const first = iterator.next()
  if (first.done === true) return Buffer.alloc(0)
  const second = iterator.next()
  if (second.done === true) return bufferOf(first.value)
  return new ChunkStream([first.value, second.value], iterator, owner)
}

/**
 * Chunks on their way to a socket or a compressor. Nothing but `pipe` reads them: a stream's own buffers do not tell
 * when a chunk has left them, and only then its memory can be given back.
 */
class ChunkStream extends Readable {
  /** Made already; sent before the chunks of `#rest`. */
  readonly #made: Uint8Array[]
  readonly #rest: Iterator<Uint8Array>
  readonly #owner: ChunkOwner
  #spentMs = 0
  #underWay = 0
  #isWaiting = false
  #isComplete = false

  constructor(made: Uint8Array[], rest: Iterator<Uint8Array>, owner: ChunkOwner) {
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

  /** Sends until enough is under way; goes on when some of that has gone out, or after it yielded to the event loop. */
  #flow(to: NodeJS.WritableStream): void {
    while (this.#underWay < MOST_UNDER_WAY && !this.#isWaiting && !this.#isComplete && !this.destroyed) {
      if (this.#spentMs >= SLICE_MS) {
        this.#isWaiting = true
        TimeSlice.shared.next().then(() => {
          this.#isWaiting = false
          this.#spentMs = 0
          this.#flow(to)
        })
        return
      }
      const chunk = this.#next()
      if (chunk === null) return
      this.#underWay++
      to.write(bufferOf(chunk), (error) => {
        this.#underWay--
        // A broken connection may still hold the chunk: its memory is not used again.
        if (error !== null && error !== undefined) return
        this.#owner.giveBack(chunk)
        this.#flow(to)
      })
    }
  }

  /** The next chunk; null after the last one, whereupon the stream ends, and after a failure, which destroys it. */
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
    // The client went away: the generator of the chunks releases what it holds.
    this.#rest.return?.()
    done(error)
  }
}

/** The same bytes, seen as what streams take. */
function bufferOf(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
