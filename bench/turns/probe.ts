import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Turns } from './turns.ts'

/**
 * Loaded into a service by `--import`: between `begin` and `end`, which come over the socket of TURNS_SOCKET, every
 * turn of the event loop is timed, its wait for something to do excluded. Timing keeps the processor busy, so that it
 * is done only while a request is measured.
 */
if (process.argv.includes('serve')) {
  let isTiming = false
  let longest: Turns = NOTHING()
  let turns = 0
  let at = 0
  let processorAt = 0

  const turn = () => {
    const now = performance.now()
    const processor = processorMs()
    const [ms, ownMs] = [now - at, processor - processorAt]
    turns++
    if (ms > longest.ms) longest = { ...longest, ms }
    if (ownMs > longest.processorMs) longest = { ...longest, processorMs: ownMs, from: at, to: now }
    if (!isTiming) return
    at = performance.now()
    processorAt = processorMs()
    setImmediate(turn)
  }

  const begin = () => {
    longest = NOTHING()
    turns = 0
    isTiming = true
    at = performance.now()
    processorAt = processorMs()
    setImmediate(turn)
  }

  const profiler = process.env.TURNS_PROFILE === '1' ? await import('./profile.ts') : null
  // That of one which was killed before.
  rmSync(process.env.TURNS_SOCKET!, { force: true })
  createServer((socket) => {
    socket.on('data', async (command) => {
      if (command.toString() === 'begin') {
        await profiler?.begin()
        begin()
        socket.write('{}\n')
      } else {
        isTiming = false
        // Ending the profile takes longer than most turns, and is none of the service's.
        const found = { ...longest, turns }
        const steps = (await profiler?.end(found.from, found.to)) ?? []
        socket.write(`${JSON.stringify({ ...found, steps })}\n`)
      }
    })
    socket.on('error', () => {})
  })
    .listen(process.env.TURNS_SOCKET)
    .unref()
}

function NOTHING(): Turns {
  return { ms: 0, processorMs: 0, from: 0, to: 0, turns: 0, steps: [] }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
