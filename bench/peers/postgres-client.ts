import type { Ask } from '../client/ask.ts'
import { Collector, type Framing, Wire } from '../client/wire.ts'

/** How a column of an answer is read. */
export type ColumnKind = 'int' | 'float' | 'text'

/**
 * PostgreSQL's protocol, version 3, with prepared statements and binary values both ways: what its own C library does,
 * so that the client costs no more than the one that speaks HTTP.
 */
export class PostgresClient {
  readonly #wire: Wire

  /** @param statements  texts by name, prepared on each connection */
  constructor(port: number, user: string, statements: Readonly<Record<string, string>>) {
    const startup = Buffer.from(`\0\x03\0\0user\0${user}\0database\0postgres\0\0`, 'latin1')
    const parse = Object.entries(statements).map(([name, text]) =>
      message('P', Buffer.from(`${name}\0${text}\0\0\0`)),
    )
    this.#wire = new Wire({
      port,
      makeFraming: () => new PostgresFraming(),
      greetings: [
        Buffer.concat([int32(startup.length + 4), startup]),
        Buffer.concat([...parse, message('S', Buffer.alloc(0))]),
      ],
    })
  }

  /** @param count  reads the answer's rows, and says how much of what was asked for is in them */
  ask(statement: string, parameters: readonly Buffer[], count: (answer: Buffer) => number): Ask {
    const bind = Buffer.concat([
      Buffer.from(`\0${statement}\0`),
      // All parameters are binary, and so is what is answered.
      Buffer.from([0, 1, 0, 1, parameters.length >> 8, parameters.length & 255]),
      ...parameters.flatMap((bytes) => [int32(bytes.length), bytes]),
      Buffer.from([0, 1, 0, 1]),
    ])
    const execute = Buffer.from([0, 0, 0, 0, 0])
    const request = Buffer.concat([message('B', bind), message('E', execute), message('S', Buffer.alloc(0))])
    return async () => {
      const answer = await this.#wire.send(request)
      return () => count(answer)
    }
  }

  interrupt(): void {
    this.#wire.interrupt()
  }
}

/** The columns of all rows of an answer, none of them null. */
export function readColumns(answer: Buffer, kinds: readonly ColumnKind[]): (number | string)[][] {
  const columns: (number | string)[][] = kinds.map(() => [])
  for (let at = 0; at < answer.length; ) {
    const kind = answer[at]!
    const end = at + 1 + answer.readInt32BE(at + 1)
    if (kind === ROW) {
      let field = at + 7
      for (let column = 0; column < kinds.length; column++) {
        const length = answer.readInt32BE(field)
        columns[column]!.push(readField(answer, field + 4, length, kinds[column]!))
        field += 4 + length
      }
    }
    at = end
  }
  return columns
}

function readField(answer: Buffer, at: number, length: number, kind: ColumnKind): number | string {
  if (kind === 'float') return answer.readDoubleBE(at)
  if (kind === 'int') return answer.readInt32BE(at) * 2 ** 32 + answer.readUInt32BE(at + 4)
  return answer.toString('utf8', at, at + length)
}

const ROW = 0x44
const ERROR = 0x45
/** ReadyForQuery, idle. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1')

/** An answer ends with the server being ready for the next request. */
class PostgresFraming implements Framing {
  readonly isLast = false
  readonly #answer = new Collector()
  #isWhole = true

  take(bytes: Buffer): Buffer | Error | null {
    if (this.#isWhole) this.#answer.clear()
    this.#isWhole = false
    this.#answer.add(bytes)
    const answer = this.#answer.bytes
    // Bytes in a row may look like it: then the messages do not end there.
    if (!answer.subarray(-READY.length).equals(READY)) return null
    const fault = outcomeOf(answer)
    if (fault === null) return null
    this.#isWhole = true
    return fault === '' ? answer : new Error(fault)
  }
}

/** What an error says, or nothing; null while messages have to come. */
function outcomeOf(answer: Buffer): string | null {
  let fault = ''
  let last = 0
  let at = 0
  while (at + 5 <= answer.length) {
    last = answer[at]!
    const end = at + 1 + answer.readInt32BE(at + 1)
    if (last === ERROR) fault = answer.toString('utf8', at + 5, Math.min(end, at + 200)).replaceAll('\0', ' ')
    at = end
  }
  return at === answer.length && last === READY[0] ? fault : null
}

/** Parameters as they are sent; integers below 2^53 in size. */
export const binary = {
  text: (value: string) => Buffer.from(value),
  int(value: number): Buffer {
    const bytes = Buffer.allocUnsafe(8)
    writeInt(bytes, value, 0)
    return bytes
  },
  texts: (values: readonly string[]) => {
    const elements = new Map([...new Set(values)].map((value) => [value, Buffer.from(value)]))
    const size = values.reduce((sum, value) => sum + 4 + elements.get(value)!.length, 0)
    const bytes = Buffer.allocUnsafe(ARRAY_HEAD + size)
    let at = startArray(bytes, 25, values.length)
    for (const value of values) {
      const element = elements.get(value)!
      at = bytes.writeInt32BE(element.length, at)
      at += element.copy(bytes, at)
    }
    return bytes
  },
  ints: (values: readonly number[]) => numbers(20, values, writeInt),
  floats: (values: readonly number[]) =>
    numbers(701, values, (bytes, value, at) => bytes.writeDoubleBE(value, at)),
}

const ARRAY_HEAD = 20

/**
 * An array of one dimension without nulls, its elements to come.
 * @param type  id of the elements' type, as PostgreSQL's catalogue has it
 * @returns     where the first element begins
 */
function startArray(bytes: Buffer, type: number, length: number): number {
  return [1, 0, type, length, 1].reduce((at, word) => bytes.writeInt32BE(word, at), 0)
}

function numbers(
  type: number,
  values: readonly number[],
  write: (bytes: Buffer, value: number, at: number) => void,
): Buffer {
  const bytes = Buffer.allocUnsafe(ARRAY_HEAD + 12 * values.length)
  let at = startArray(bytes, type, values.length)
  for (const value of values) {
    write(bytes, value, bytes.writeInt32BE(8, at))
    at += 12
  }
  return bytes
}

function writeInt(bytes: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 2 ** 32)
  bytes.writeInt32BE(high, at)
  bytes.writeUInt32BE(value - high * 2 ** 32, at + 4)
}

function message(kind: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(content.length + 4), content])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
