import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { fillRecord } from './fill-record.ts'
import { WRITTEN } from './workloads.ts'

/**
 * What a service that takes points as JSON and answers when they are durable cannot be faster than by much: parses the
 * body, puts the points into columns, appends them to a file, syncs it, answers. Requests that come meanwhile share the
 * next sync. No keys, no limits, no messages; nothing can be read. Prints its port; ends with its standard input.
 */
const folder = mkdtempSync(join(tmpdir(), 'tidemark-ceiling-'))
const file = systemFiles.create(join(folder, 'log'))
let end = 0
let waiting: { readonly record: Uint8Array; readonly done: () => void }[] = []
let isCommitting = false

/** Group commit: what waits goes to the file together. */
async function commit(): Promise<void> {
  isCommitting = true
  while (waiting.length > 0) {
    const group = waiting
    waiting = []
    for (const { record } of group) {
      await file.write(record, end)
      end += record.length
    }
    await file.sync()
    for (const { done } of group) done()
  }
  isCommitting = false
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const filled = fillRecord(JSON.parse(Buffer.concat(chunks).toString()))
    if (filled === null) answer(response, 400, '')
    else {
      waiting.push({ record: filled.record, done: () => answer(response, 200, WRITTEN) })
      if (!isCommitting) void commit()
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`${address?.port}\n`)
})

process.stdin.resume().on('end', async () => {
  server.close()
  server.closeAllConnections()
  file.close()
  rmSync(folder, { recursive: true, force: true })
})

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}
