import { Agent, request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const EVERY_MS = 10

/** A probe every 10 ms, sent from a thread of its own: what others wait for while the service is attacked. */
export class Pings {
  readonly #worker: Worker

  constructor(port: number) {
    this.#worker = new Worker(import.meta.filename, { workerData: { port } })
    this.#worker.on('error', () => {})
  }

  /** The longest time between a probe and its answer since the last look, those without an answer included, in ms. */
  longest(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    this.#worker.once('message', resolve)
    this.#worker.postMessage('longest')
    return promise
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

if (!isMainThread) {
  const { port } = workerData as { readonly port: number }
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const open = new Set<number>()
  let longest = 0
  setInterval(() => {
    // A service that hangs is not sent more and more.
    if (open.size >= 64) return
    const began = performance.now()
    open.add(began)
    const done = () => {
      if (!open.delete(began)) return
      longest = Math.max(longest, performance.now() - began)
    }
    const probe = request({ port, path: '/health/live', agent }, (answer) => answer.resume().on('end', done))
    probe.on('error', done).end()
  }, EVERY_MS)
  parentPort!.on('message', () => {
    const now = performance.now()
    for (const began of open) longest = Math.max(longest, now - began)
    parentPort!.postMessage(longest)
    longest = 0
  })
}
