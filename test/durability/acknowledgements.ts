import type { Readable } from 'node:stream'

/**
 * Reads what a writer process tells of its requests (kill-writer.ts): of each that was answered the number of the
 * writer and its own, as two u32.
 */
export function readAcknowledgements(pipe: Readable, take: (writer: number, sequence: number) => void): void {
  let rest = Buffer.alloc(0)
  pipe.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    for (; rest.length >= 8; rest = rest.subarray(8)) take(rest.readUInt32LE(0), rest.readUInt32LE(4))
  })
}
