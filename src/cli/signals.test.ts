import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { listenForSignals } from './signals.ts'

/** Signals that come at these milliseconds; gives the exit codes that they led to. */
function signalled(...times: readonly number[]) {
  const process = new EventEmitter()
  const exits: number[] = []
  const exit = (code: number) => void exits.push(code)
  const interruption = new AbortController()
  let now = 0
  const end = listenForSignals(Object.assign(process, { exit: exit as never }), interruption, () => now)
  for (const time of times) {
    now = time
    process.emit('SIGTERM')
  }
  now += 10_000
  end()
  // Without a listener, a signal that is handed on late would kill the process.
  assert.equal(process.emit('SIGTERM'), interruption.signal.aborted)
  return { exits, aborted: interruption.signal.aborted }
}

test('the first signal asks to end, and further ones of half a second are the same wish', () => {
  assert.deepEqual(signalled(), { exits: [], aborted: false })
  assert.deepEqual(signalled(7), { exits: [], aborted: true })
  assert.deepEqual(signalled(7, 7, 8, 300, 507), { exits: [], aborted: true })
})

test('one that comes later ends the process at once', () => {
  assert.deepEqual(signalled(7, 508), { exits: [130], aborted: true })
  assert.deepEqual(signalled(7, 100, 5_000), { exits: [130], aborted: true })
})
