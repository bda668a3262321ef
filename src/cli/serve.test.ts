import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { z } from 'zod'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { type RunningProcess, runCommandLine } from './program.ts'
import { StartInterrupted, type Tools } from './tools.ts'

/** Runs `serve` with a start that a signal comes amid and that then fails. */
async function startThatFails(failure: Error) {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  const process = Object.assign(new EventEmitter(), {
    stdout: stream,
    stderr: stream,
    stdin: [] as never,
    env: {},
    cwd: () => '/',
    exit: (): never => {
      throw new Error('ended at once')
    },
  }) as unknown as RunningProcess & EventEmitter
  const tools = {
    version: '0',
    historianTypes: async () => new Map([['embedded', { configSchema: z.looseObject({}) }]]),
    storeTypes: async () => new Map(),
    startService: async () => {
      process.emit('SIGTERM')
      throw failure
    },
  } as unknown as Tools
  const { code, interrupted } = await runCommandLine(['serve'], tools, process)
  assert.ok(interrupted)
  // The same wish, handed on late, finds a listener.
  assert.ok(process.emit('SIGTERM'))
  return { code, text }
}

test('an error of the start is reported although a signal came meanwhile', async () => {
  const reason = 'it is broken'
  const failure = new TidemarkError('DATA_DIR_UNUSABLE', { path: '/data', reason })
  const { code, text } = await startThatFails(failure)
  assert.equal(code, 1)
  assert.match(text, /it is broken/)
  assert.doesNotMatch(text, /Stopped|Interrupted/)
})

test('a start that only the signal ended is a stop', async () => {
  const failure = new StartInterrupted('a worker ended')
  assert.deepEqual(await startThatFails(failure), { code: 0, text: 'Stopped.\n' })
})
