import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { RunningService } from '../../cli/run.ts'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** What a fake answers: status and body, or null to hang up. */
export type FakeAnswer = { readonly status: number; readonly body: unknown } | null

/**
 * A server that answers what no real instance would: for what a driver does when an answer is wrong, which no real one
 * can be brought to give. Closed after the tests.
 */
export async function fakeInstance(
  answer: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
): Promise<{ readonly service: Pick<RunningService, 'url'>; readonly requests: FakeRequest[] }> {
  const requests: FakeRequest[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = '', url: path = '', headers } = request
    const seen = { method, path, headers, body: Buffer.concat(pieces).toString() }
    requests.push(seen)
    const given = await answer(seen)
    if (given === null) request.socket.destroy()
    else {
      response.writeHead(given.status, { 'content-type': 'application/json' })
      response.end(typeof given.body === 'string' ? given.body : JSON.stringify(given.body))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { service: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, requests }
}
