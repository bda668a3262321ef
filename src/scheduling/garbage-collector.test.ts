import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const THREADS = 4
const TIMES = 100

test('threads that begin to collect garbage at the same time do not fail each other', async () => {
  const module = new URL('./garbage-collector.ts', import.meta.url).href
  // A module of another name finds the collector anew.
  const code = `
    const { parentPort } = require('node:worker_threads')
    parentPort.once('message', async () => {
      for (let i = 0; i < ${TIMES}; i++) (await import('${module}?' + i)).collectGarbage('minor')
      process.exit(0)
    })
    parentPort.postMessage('ready')
  `
  const threads = Array.from({ length: THREADS }, () => new Worker(code, { eval: true }))
  const ended = threads.map(
    (thread) => new Promise((resolve) => thread.once('error', resolve).once('exit', resolve)),
  )
  await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('message', resolve))))
  for (const thread of threads) thread.postMessage('go')
  assert.deepEqual(await Promise.all(ended), Array(THREADS).fill(0))
})
