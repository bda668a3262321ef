import { flushCompileCache } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { LIMITS, progressOf, RETAINED, type RetainedTag } from './retention-plan.ts'

// Run by retention-kill.test.ts: reads what owners write, one after the other, until it is killed, as a worker does.

/** Between two reads. */
const PAUSE_MS = 20
const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

process.once('message', async (folder: string) => {
  const store = await openFileStore(folder, { historian: 'plant', owner: false, limits: LIMITS })
  let last = 0
  for (let reads = 1; ; reads++) {
    const read = await store.readRanges(
      RETAINED.map((tag) => ({ tag, ...EVER })),
      signal,
    )
    const request = requestIn(read.map(({ points }, i) => [RETAINED[i]!, { points, description: null }]))
    if (request === null || request < last) {
      process.send!({ wrong: `read ${reads} shows ${request}, the one before it ${last}` })
      return
    }
    last = request
    if (reads % 5 === 1) process.send!({ reads, last })
    // Beside it the owner is to get on.
    await wait(PAUSE_MS)
  }
})
// At its end, as usual, there will be no time.
flushCompileCache()
process.send!('ready')

/** The last request that a read shows, `null` for what none leads to; it has no descriptions, and no empty tags. */
function requestIn(tags: readonly (readonly [string, RetainedTag])[]): number | null {
  const found = new Map(tags.filter(([, { points }]) => points.times.length > 0))
  return progressOf(found, null, 'points')?.request ?? null
}
