import { Agent, request } from 'node:http'
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

async function sendAll(order: LoadOrder & { readonly kind: 'send' }): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true })
  const requestMs: number[] = []
  let next = 0
  const began = performance.now()
  const writer = async () => {
    while (next < bodies.length) {
      const body = bodies[next++]!
      const sent = performance.now()
      await post(agent, order, body)
      requestMs.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: order.writers }, writer))
  const ms = performance.now() - began
  agent.destroy()
  return { ms, requestMs }
}

function post(agent: Agent, { port, key }: { port: number; key: string }, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': key }
    const path = '/historian/write/points'
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode === 200 && text === WRITTEN) resolve()
        else reject(new Error(`${answer.statusCode} ${text.slice(0, 500)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
