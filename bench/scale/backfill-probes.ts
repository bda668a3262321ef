import { readFileSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { HttpClient } from '../client/http-client.ts'
import { expect, seededRandom } from '../measure.ts'
import { nameOf } from './backfill-plant.ts'

/** Other tags, that have points already and get new ones all the time. */
const OTHERS = 100
export const POINTS_BEFORE = 10_000
const START = Date.UTC(2026, 0, 1)
const STEP_MS = 60_000

/** What is sent, each kind one after the other. */
export const PROBES = ['write-others', 'read-others', 'read-backfilled'] as const
/** Milliseconds between an answer and the next request. */
const PAUSE_MS = { 'write-others': 50, 'read-others': 20, 'read-backfilled': 50 }

/** What a request took, in milliseconds. */
export interface ProbeTime {
  readonly ms: number
  /**
   * Of the service's main thread meanwhile: how long it ran, for this request and others, and how long it was ready to
   * and had no processor. As the kernel counts them, some milliseconds late; NaN where there is no /proc.
   */
  readonly ranMs: number
  readonly readyMs: number
}

/** The requests of each kind. */
export type ProbeTimes = Readonly<Record<(typeof PROBES)[number], readonly ProbeTime[]>>

interface ProbeTarget {
  /** Of the service. */
  readonly pid: number
  readonly port: number
  readonly key: string
  /** Number of backfilled tags. */
  readonly tags: number
}

/**
 * Writes of other tags, reads of them, and reads of those that are backfilled, sent from a thread of its own: making
 * the bodies of a backfill keeps this one busy.
 */
export class Probes {
  readonly #worker: Worker

  constructor(target: ProbeTarget) {
    this.#worker = new Worker(import.meta.filename, { workerData: target })
  }

  /** Ends what was sent before, and gives its times; begins again with these kinds. */
  next(kinds: readonly (typeof PROBES)[number][]): Promise<ProbeTimes> {
    const { promise, resolve, reject } = Promise.withResolvers<ProbeTimes>()
    this.#worker.once('error', reject).once('message', (times: ProbeTimes) => {
      this.#worker.off('error', reject)
      resolve(times)
    })
    this.#worker.postMessage(kinds)
    return promise
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** The bodies of requests that give the other tags their first points. */
export function bodiesBefore(): string[] {
  return Array.from({ length: POINTS_BEFORE / 100 }, (_, part) => {
    const entries = Array.from({ length: OTHERS }, (_, tag) => {
      const indexes = Array.from({ length: 100 }, (_, i) => part * 100 + i)
      const times = indexes.map((index) => START + index * STEP_MS).join(',')
      const values = indexes.map((index) => ((tag + index * 7) % 1_000) / 10).join(',')
      return `"local/OTHER-${tag}":{"unit":"ms","timestamps":[${times}],"values":[${values}]}`
    })
    return `{"createTags":true,"points":{${entries.join(',')}}}`
  })
}

if (!isMainThread) {
  const { pid, port, key, tags } = workerData as ProbeTarget
  const random = seededRandom(4)
  let written = POINTS_BEFORE

  const requests = {
    'write-others': () => {
      const time = START + written++ * STEP_MS
      const entries = Array.from(
        { length: OTHERS },
        (_, tag) => `"local/OTHER-${tag}":[{"timestamp":${time},"value":${written % 977}}]`,
      )
      return ['/historian/write/points', `{"points":{${entries.join(',')}}}`] as const
    },
    'read-others': () => ['/historian/multi', random() < 0.5 ? current() : raw('OTHER-3')] as const,
    'read-backfilled': () => ['/historian/multi', raw(nameOf(Math.floor(random() * tags)))] as const,
  }

  const current = () => {
    const tags = Array.from({ length: OTHERS }, (_, tag) => [tag, `local/OTHER-${tag}`])
    return JSON.stringify({
      requests: Object.fromEntries(tags.map(([label, tag]) => [label, { type: 'CURRENT_POINT', tag }])),
    })
  }

  const raw = (tag: string) => {
    const from = START - random() * 7e9
    const details = { from, to: from + 1_000 * STEP_MS * 10, maxPoints: 1_000 }
    return JSON.stringify({ requests: { a: { type: 'RAW_POINTS', tag: `local/${tag}`, details } } })
  }

  let isOver = { now: false }
  let times: Record<string, ProbeTime[]> = Object.fromEntries(PROBES.map((kind) => [kind, []]))
  let running: Promise<unknown> = Promise.resolve()

  const mainThread = (): Omit<ProbeTime, 'ms'> => {
    try {
      const [ran, ready] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
      return { ranMs: Number(ran) / 1e6, readyMs: Number(ready) / 1e6 }
    } catch {
      return { ranMs: Number.NaN, readyMs: Number.NaN }
    }
  }

  const run = async (kind: (typeof PROBES)[number], taken: ProbeTime[], over: { readonly now: boolean }) => {
    const client = new HttpClient(port, { 'content-type': 'application/json', 'x-api-key': key })
    while (!over.now) {
      const [path, body] = requests[kind]()
      const request = client.request('POST', path, body)
      const before = mainThread()
      const began = performance.now()
      const answer = await client.send(request)
      const ms = performance.now() - began
      const after = mainThread()
      taken.push({ ms, ranMs: after.ranMs - before.ranMs, readyMs: after.readyMs - before.readyMs })
      const text = answer.toString('utf8')
      expect(kind === 'write-others' || text.includes('"errors":{}'), `${kind}: ${text.slice(0, 300)}`)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS[kind]))
    }
    client.interrupt()
  }

  parentPort!.on('message', async (kinds: readonly (typeof PROBES)[number][]) => {
    isOver.now = true
    await running
    const before = times
    isOver = { now: false }
    times = Object.fromEntries(PROBES.map((kind) => [kind, []]))
    running = Promise.all(kinds.map((kind) => run(kind, times[kind]!, isOver)))
    parentPort!.postMessage(before)
  })
}
