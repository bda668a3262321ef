import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { fillRecord } from './fill-record.ts'
import { WRITTEN } from './workloads.ts'

/**
 * What a service that takes points as JSON and answers when they are durable cannot be faster than by much: parses the body,
 * puts the points into columns, commits them as one lmdb record with the same settings as the embedded historian, answers.
 * No keys, no limits, no messages; nothing can be read. Prints its port; ends with its standard input.
 */
const folder = mkdtempSync(join(tmpdir(), 'tidemark-ceiling-'))
const records = open<Uint8Array, number>({
  path: folder,
  encoding: 'binary',
  keyEncoding: 'uint32',
  cache: false,
  noSubdir: false,
  overlappingSync: false,
  eventTurnBatching: false,
  pageSize: 4096,
})
let sequence = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const filled = fillRecord(JSON.parse(Buffer.concat(chunks).toString()))
    if (filled === null) answer(response, 400, '')
    else records.put(sequence++, filled.record).then(() => answer(response, 200, WRITTEN))
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`${address?.port}\n`)
})

process.stdin.resume().on('end', async () => {
  server.close()
  server.closeAllConnections()
  await records.close()
  rmSync(folder, { recursive: true, force: true })
})

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}
