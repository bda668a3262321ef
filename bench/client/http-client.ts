import type { Ask } from './ask.ts'
import { Collector, type Framing, Wire } from './wire.ts'

type Headers = Readonly<Record<string, string>>

/** HTTP/1.1 to a port of this machine; a status of 300 or more rejects. */
export class HttpClient {
  readonly #wire: Wire
  readonly #port: number
  readonly #headers: Headers

  /** @param headers  of every request */
  constructor(port: number, headers: Headers = {}) {
    this.#wire = new Wire({ port, makeFraming: () => new HttpFraming() })
    this.#port = port
    this.#headers = headers
  }

  /** Head and body as they go out. */
  request(method: string, path: string, body: Buffer | string | null, headers: Headers = {}): Buffer {
    const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${this.#port}`]
    for (const [name, value] of Object.entries({ ...this.#headers, ...headers })) {
      lines.push(`${name}: ${value}`)
    }
    if (body === null) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
    lines.push(`content-length: ${Buffer.byteLength(body)}`)
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
  }

  send(request: Buffer): Promise<Buffer> {
    return this.#wire.send(request)
  }

  /** @param count  reads the answer's body, and says how much of what was asked for is in it */
  ask(request: Buffer, count: (body: Buffer) => number): Ask {
    return async () => {
      const body = await this.#wire.send(request)
      return () => count(body)
    }
  }

  /** Of an answer in JSON. */
  askJson<T>(request: Buffer, count: (answer: T) => number): Ask {
    return this.ask(request, (body) => count(JSON.parse(body.toString()) as T))
  }

  interrupt(): void {
    this.#wire.interrupt()
  }
}

/** Answers with a length or in chunks. */
class HttpFraming implements Framing {
  isLast = false
  /** The beginning of a head, until it is whole. */
  #head: Buffer | null = null
  #status = 0
  /** Of the body, or of the chunk at hand, so many bytes have still to come; null before the head is whole. */
  #left: number | null = null
  #isChunked = false
  #line = ''
  #isEnding = false
  readonly #body = new Collector()

  take(bytes: Buffer): Buffer | Error | null {
    const body = this.#left === null ? this.#takeHead(bytes) : bytes
    if (body === null) return null
    const isWhole = this.#isChunked ? this.#takeChunks(body) : this.#takePart(body)
    if (!isWhole) return null
    const whole = this.#body.bytes
    this.#left = null
    return this.#status < 300 ? whole : new Error(`status ${this.#status}: ${whole.toString().slice(0, 200)}`)
  }

  /** What stands behind the head; null when it is not whole. */
  #takeHead(bytes: Buffer): Buffer | null {
    const all = this.#head === null ? bytes : Buffer.concat([this.#head, bytes])
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = Buffer.from(all)
      return null
    }
    this.#body.clear()
    this.#head = null
    const head = all.toString('latin1', 0, end)
    this.#status = Number(head.slice(9, 12))
    this.isLast = /\r\nconnection: *close/i.test(head)
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    this.#isEnding = false
    this.#left = this.#isChunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    return all.subarray(end + 4)
  }

  #takePart(bytes: Buffer): boolean {
    this.#body.add(bytes)
    this.#left! -= bytes.length
    return this.#left === 0
  }

  #takeChunks(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length) {
      if (this.#left! > 0) {
        const part = bytes.subarray(at, at + this.#left!)
        this.#body.add(part)
        this.#left! -= part.length
        at += part.length
        continue
      }
      // A line: the size of the next chunk, the end of the last one's, or behind a size of zero what is left to say.
      const end = bytes.indexOf(10, at)
      if (end < 0) {
        this.#line += bytes.toString('latin1', at)
        return false
      }
      const line = (this.#line + bytes.toString('latin1', at, end)).trim()
      this.#line = ''
      at = end + 1
      if (line === '') {
        if (this.#isEnding) return true
      } else if (!this.#isEnding) {
        this.#left = Number.parseInt(line, 16)
        this.#isEnding = this.#left === 0
      }
    }
    return false
  }
}
