import { connect, type Socket } from 'node:net'
import { READ_KEY } from './service.ts'

/** A connection of our own, on which anything can be sent. */
export class Wire {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #waiting: (() => void)[] = []
  closed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    // A reset by the server ends the connection like a regular end.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1' })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new Wire(socket)
  }

  send(data: string | Buffer): void {
    this.socket.write(data)
  }

  /** Everything received so far, as text of bytes. */
  get text(): string {
    return this.#received.toString('latin1')
  }

  /** Resolves with the text received when it matches, or when the server has closed the connection. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text) && !this.closed) await this.#change()
    return this.text
  }

  /** Resolves with all text received when the server has closed the connection. */
  async end(): Promise<string> {
    while (!this.closed) await this.#change()
    return this.text
  }

  destroy(): void {
    this.socket.destroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** The text of a request; a body gets its length and its type. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): string {
  const all: Record<string, string> = {
    host: 'test',
    'x-api-key': READ_KEY,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

export function statusesIn(text: string): readonly number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => Number(status))
}
