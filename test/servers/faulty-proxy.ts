import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Which way bytes go: `request` from the client to the server. */
export type Direction = 'request' | 'answer'

/**
 * What happens to the bytes of one direction after so many of them:
 * - `cut`: the connection is reset on both sides;
 * - `hold`: the rest waits; on `release` it arrives after all, when the client has long given up;
 * - `split`: the rest comes a moment later.
 */
export interface Fault {
  readonly kind: 'cut' | 'hold' | 'split'
  readonly direction: Direction
  /** Bytes that pass before, counted from when the fault was armed. */
  readonly after: number
  /** What is to be over before the rest of a `split` message comes; begun when it is held. */
  readonly meanwhile?: () => Promise<void>
}

/** How much later the rest of a split message comes: enough for the other side to read what came before it. */
const SPLIT_MS = 2

/**
 * Stands between a client and a server on the loopback, and does to one connection at a time what networks do. Without
 * a fault everything passes.
 */
export class FaultyProxy {
  /**
   * Whether connections made from now on are sent to the server twice; what it answers the second time nobody hears.
   */
  duplicates = false
  readonly port: number
  readonly #server: Server
  readonly #links = new Set<Link>()
  #fault: Fault | null = null
  #passed = 0
  #struck: Link | null = null

  /** @param target port of the server */
  static async start(target: number): Promise<FaultyProxy> {
    const server = createServer({ noDelay: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultyProxy(server, target)
  }

  private constructor(server: Server, target: number) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => {
      const link = new Link(client, target, this.duplicates, (direction, bytes) =>
        this.#pass(link, direction, bytes),
      )
      this.#links.add(link)
      client.once('close', () => this.#links.delete(link))
    })
  }

  /** Bytes that went the way of the fault since it was armed. */
  get passed(): number {
    return this.#passed
  }

  /** The next bytes that go this way are counted, and meet the fault. */
  arm(fault: Fault): void {
    this.#fault = fault
    this.#passed = 0
    this.#struck = null
  }

  /**
   * Ends the fault. What was held goes on, as far as there still is a connection to the server, which is closed then.
   * @returns whether it happened, as that many bytes came
   */
  release(): boolean {
    const link = this.#struck
    this.#fault = null
    this.#struck = null
    link?.letGo()
    return link !== null
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #pass(link: Link, direction: Direction, bytes: Buffer): void {
    const fault = this.#fault
    if (fault === null || fault.direction !== direction || this.#struck !== null) {
      link.send(direction, bytes)
      return
    }
    const left = fault.after - this.#passed
    this.#passed += bytes.length
    if (bytes.length <= left) {
      link.send(direction, bytes)
      return
    }
    this.#struck = link
    link.send(direction, bytes.subarray(0, left))
    if (fault.kind === 'cut') link.cut()
    else {
      link.hold(direction, bytes.subarray(left))
      const { meanwhile = () => wait(SPLIT_MS) } = fault
      if (fault.kind === 'split') meanwhile().finally(() => link.resume())
    }
  }
}

/** One connection of the client and the one that it leads to. */
class Link {
  readonly #ends: Readonly<Record<Direction, Socket>>
  readonly #mirror: Socket | null
  #held: { readonly direction: Direction; readonly pieces: Buffer[] } | null = null

  constructor(
    client: Socket,
    target: number,
    isDoubled: boolean,
    pass: (direction: Direction, bytes: Buffer) => void,
  ) {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    this.#ends = { request: server, answer: client }
    this.#mirror = isDoubled ? connect({ port: target, host: '127.0.0.1', noDelay: true }) : null
    this.#mirror?.on('error', () => {}).resume()
    client.on('error', () => {}).on('data', (bytes: Buffer) => pass('request', bytes))
    server.on('error', () => {}).on('data', (bytes: Buffer) => pass('answer', bytes))
    client.on('close', () => {
      // What is held for the server may still be let go.
      if (this.#held === null) server.end()
      this.#mirror?.end()
    })
    server.on('close', () => client.destroy())
  }

  send(direction: Direction, bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.#held?.direction === direction) {
      this.#held.pieces.push(bytes)
      return
    }
    this.#ends[direction].write(bytes)
    if (direction === 'request') this.#mirror?.write(bytes)
  }

  hold(direction: Direction, bytes: Buffer): void {
    this.#held = { direction, pieces: [bytes] }
  }

  /** Sends on what was held, and what comes. */
  resume(): void {
    if (this.#held === null) return
    const { direction, pieces } = this.#held
    this.#held = null
    for (const piece of pieces) this.send(direction, piece)
  }

  /** Sends on what was held and ends both sides. */
  letGo(): void {
    if (this.#held === null) return
    this.resume()
    this.#ends.request.end()
    this.#ends.answer.destroy()
  }

  cut(): void {
    for (const end of Object.values(this.#ends)) end.resetAndDestroy()
    this.#mirror?.destroy()
  }
}
