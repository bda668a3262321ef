import { connect, type Socket } from 'node:net'

/** Cuts what one connection receives into answers; requests follow each other on it, one at a time. */
export interface Framing {
  /**
   * Takes what came, which is only lent. The body once it is whole, lent until the next answer on the connection begins
   * to come, or what the server says is wrong; null while more has to come.
   */
  take(bytes: Buffer): Buffer | Error | null
  /** Whether the server closes the connection behind the answer. */
  readonly isLast: boolean
}

/**
 * Collects an answer in memory that is used again for the next one: fresh pages cost more than what is copied into
 * them.
 */
export class Collector {
  #memory = Buffer.allocUnsafeSlow(64 * 1024)
  #length = 0

  /** What was added since the last `clear`, lent until then. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  add(bytes: Buffer): void {
    const needed = this.#length + bytes.length
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length))
      this.#memory.copy(larger, 0, 0, this.#length)
      this.#memory = larger
    }
    bytes.copy(this.#memory, this.#length)
    this.#length = needed
  }

  clear(): void {
    this.#length = 0
  }
}

/** Of one connection, for what one look at its socket brings. */
const RECEIVED_BYTES = 256 * 1024

export interface WireOptions {
  readonly port: number
  makeFraming(): Framing
  /** What opens a connection: each is sent, and its answer awaited, before the connection takes requests. */
  readonly greetings?: readonly Buffer[]
}

/**
 * Connections to a port of this machine that stay open: as many as there are requests under way. A request is bytes
 * that were made before, and goes out in one write; an answer is handed out as bytes. There is next to nothing between
 * a peer and what is measured, and it is the same for all of them.
 */
export class Wire {
  readonly #options: WireOptions
  readonly #idle: Connection[] = []
  readonly #open = new Set<Connection>()

  constructor(options: WireOptions) {
    this.#options = options
  }

  /** Rejects with what the server says is wrong, or when the connection breaks. */
  send(request: Buffer): Promise<Buffer> {
    const connection = this.#idle.pop()
    return connection === undefined ? this.#sendAnew(request) : connection.send(request)
  }

  /** Breaks off everything that is under way; what is sent later opens connections again. */
  interrupt(): void {
    for (const connection of this.#open) connection.destroy()
    this.#open.clear()
    this.#idle.length = 0
  }

  async #sendAnew(request: Buffer): Promise<Buffer> {
    const { port, makeFraming, greetings = [] } = this.#options
    const connection: Connection = new Connection(port, {
      framing: makeFraming(),
      onIdle: () => this.#idle.push(connection),
      onGone: () => {
        this.#open.delete(connection)
        const index = this.#idle.indexOf(connection)
        if (index >= 0) this.#idle.splice(index, 1)
      },
      sendElsewhere: (unanswered) => this.#sendAnew(unanswered),
    })
    this.#open.add(connection)
    for (const greeting of greetings) {
      await connection.send(greeting)
      this.#idle.splice(this.#idle.indexOf(connection), 1)
    }
    return connection.send(request)
  }
}

interface ConnectionOptions {
  readonly framing: Framing
  readonly onIdle: () => void
  readonly onGone: () => void
  readonly sendElsewhere: (request: Buffer) => Promise<Buffer>
}

interface Waiting {
  readonly request: Buffer
  readonly resolve: (answer: Buffer | Promise<Buffer>) => void
  readonly reject: (error: Error) => void
}

class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  #waiting: Waiting | null = null
  #answers = 0
  /** Nothing has come yet in answer to the request. */
  #isSilent = true
  #isDestroyed = false

  constructor(port: number, options: ConnectionOptions) {
    const callback = (count: number, memory: Uint8Array) => {
      this.#take((memory as Buffer).subarray(0, count))
      return true
    }
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafeSlow(RECEIVED_BYTES), callback },
    })
    this.#options = options
    let reason = 'the connection was closed'
    this.#socket.on('error', (error) => {
      reason = error.message
    })
    this.#socket.on('close', () => this.#close(reason))
  }

  send(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { request, resolve, reject }
      this.#isSilent = true
      this.#socket.write(request)
    })
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#isSilent = false
    const answer = this.#options.framing.take(bytes)
    if (answer === null) return
    const waiting = this.#waiting
    this.#waiting = null
    this.#answers++
    if (this.#options.framing.isLast) this.#socket.end()
    else this.#options.onIdle()
    if (answer instanceof Error) waiting?.reject(answer)
    else waiting?.resolve(answer)
  }

  #close(reason: string): void {
    this.#options.onGone()
    const waiting = this.#waiting
    if (waiting === null) return
    this.#waiting = null
    // A server may close a connection that was idle in the moment in which a request sets out on it.
    if (this.#isSilent && this.#answers > 0 && !this.#isDestroyed) {
      waiting.resolve(this.#options.sendElsewhere(waiting.request))
    } else waiting.reject(new Error(reason))
  }
}
