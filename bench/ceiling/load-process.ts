import { HttpClient } from '../client/http-client.ts'
import { expect } from '../measure.ts'
import { type Form, makeBodies, type Workload, WRITTEN } from './workloads.ts'

/** What the load process is told; it answers each message with one. */
export type LoadOrder =
  /** Makes the bodies of a round and keeps them. Answered with null. */
  | {
      readonly kind: 'prepare'
      readonly workload: Workload
      readonly form: Form
      readonly round: number
    }
  /** Sends the bodies that are kept. Answered with a LoadResult. */
  | { readonly kind: 'send'; readonly port: number; readonly key: string; readonly writers: number }

export interface LoadResult {
  /** From the first byte of the first request to the last byte of the last answer. */
  readonly ms: number
  /** Of each request, in no order. */
  readonly requestMs: readonly number[]
}

/** Sends writes as fast as they are answered: a process of its own, so that a server has a core to itself. */
let bodies: readonly Buffer[] = []
process.on('message', (order: LoadOrder) => {
  if (order.kind === 'prepare') {
    bodies = []
    bodies = makeBodies(order.workload, order.form, order.round)
    process.send!(null)
    return
  }
  sendAll(order).then(
    (result) => process.send!(result),
    (error: Error) => {
      console.error(error)
      process.exit(1)
    },
  )
})

async function sendAll({ port, key, writers }: LoadOrder & { readonly kind: 'send' }): Promise<LoadResult> {
  const client = new HttpClient(port, { 'content-type': 'application/json', 'x-api-key': key })
  const requests = bodies.map((body) => client.request('POST', '/historian/write/points', body))
  const requestMs: number[] = []
  let next = 0
  const began = performance.now()
  const writer = async () => {
    while (next < requests.length) {
      const request = requests[next++]!
      const sent = performance.now()
      const answer = await client.send(request)
      requestMs.push(performance.now() - sent)
      if (!answer.equals(written)) expect(false, answer.toString('utf8', 0, 500))
    }
  }
  await Promise.all(Array.from({ length: writers }, writer))
  const ms = performance.now() - began
  client.interrupt()
  return { ms, requestMs }
}

const written = Buffer.from(WRITTEN)
