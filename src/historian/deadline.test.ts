import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { withDeadline } from './deadline.ts'

function codeOf(signal: AbortSignal): string {
  assert.ok(signal.reason instanceof TidemarkError)
  return signal.reason.code
}

test('the signal is aborted with the deadline when the time is up', async () => {
  const deadline = withDeadline(new AbortController().signal, 0.01)
  await once(deadline.signal, 'abort')
  assert.equal(codeOf(deadline.signal), 'DEADLINE_EXCEEDED')
  deadline.done()
})

test('a change has its own sentence', async () => {
  const deadline = withDeadline(new AbortController().signal, 0.01, 'WRITE_DEADLINE_EXCEEDED')
  await once(deadline.signal, 'abort')
  assert.equal(deadline.signal.reason.message, 'The request was not finished within 0.01 seconds')
})

test('work that keeps the timer from running is past its deadline by the clock', (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const deadline = withDeadline(new AbortController().signal, 60)
  now += 59_999
  deadline.check()
  now += 1
  assert.equal(deadline.signal.aborted, false)
  assert.throws(() => deadline.check(), { code: 'DEADLINE_EXCEEDED' })
  assert.equal(codeOf(deadline.signal), 'DEADLINE_EXCEEDED')
  deadline.done()
})

test('a client that goes away cancels, before and after the start', () => {
  const client = new AbortController()
  const running = withDeadline(client.signal, 60)
  client.abort()
  const late = withDeadline(client.signal, 60)
  assert.equal(codeOf(running.signal), 'CANCELLED')
  assert.equal(codeOf(late.signal), 'CANCELLED')
})

test('a reason that is one of ours is passed on', () => {
  const reason = new TidemarkError('SHUTTING_DOWN')
  assert.equal(withDeadline(AbortSignal.abort(reason), 60).signal.reason, reason)
})

test('after done neither time nor client ends anything', async () => {
  const client = new AbortController()
  const deadline = withDeadline(client.signal, 0.005)
  deadline.done()
  deadline.done()
  client.abort()
  await new Promise((resolve) => setTimeout(resolve, 15))
  assert.equal(deadline.signal.aborted, false)
})

test('a deadline beyond what a timer can hold does not fall due at once', async () => {
  const deadline = withDeadline(new AbortController().signal, 1e9)
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(deadline.signal.aborted, false)
  deadline.done()
})
