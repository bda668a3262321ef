import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { Json } from '../../multi-harness.ts'

/** What an instance was asked, and how much of it came. */
export interface Recording {
  readonly url: string
  /** Labels by their type since the last `reset`. */
  labels(): Readonly<Record<string, number>>
  /** Raw points that came one by one since the last `reset`: of RAW_POINTS, and of each look at a single point. */
  rawPoints(): number
  reset(): void
}

/** Stands before an instance, passes on every call and counts what comes. Bodies must not be compressed. */
export async function recordingProxy(target: string): Promise<Recording> {
  let labels: Record<string, number> = {}
  let rawPoints = 0
  const record = (call: Json, answer: Json) => {
    for (const [label, { type }] of Object.entries<Json>(call.requests)) {
      labels[type] = (labels[type] ?? 0) + 1
      if (type === 'RAW_POINTS') rawPoints += answer.results[label]?.dataPoints.timestamps.length ?? 0
      else if (type.startsWith('POINT_')) rawPoints++
    }
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const key = request.headers['x-api-key'] as string
    const answer = await fetch(target + request.url, {
      method: request.method!,
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
      ...(body.length > 0 && { body }),
    })
    const text = await answer.text()
    if (request.url === '/historian/multi') record(JSON.parse(body.toString()), JSON.parse(text))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    labels: () => labels,
    rawPoints: () => rawPoints,
    reset() {
      labels = {}
      rawPoints = 0
    },
  }
}
