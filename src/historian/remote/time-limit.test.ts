import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withTimeLimit } from './time-limit.ts'

const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('work that takes too long is aborted, and its historian named', async () => {
  let aborted: unknown = null
  const context = { signal: new AbortController().signal }
  const work = withTimeLimit('site', 0.01, context, ({ signal }) =>
    never(signal).catch((reason) => {
      aborted = reason
      throw reason
    }),
  )
  await assert.rejects(work, {
    code: 'HISTORIAN_UNAVAILABLE',
    message: 'Historian site could not be reached: no answer within 0.01 seconds',
  })
  assert.equal((aborted as { code?: string }).code, 'HISTORIAN_UNAVAILABLE')
})

test('work that does not look at its signal is not waited for', async () => {
  const context = { signal: new AbortController().signal }
  await assert.rejects(
    withTimeLimit('site', 0.01, context, () => new Promise(() => {})),
    { code: 'HISTORIAN_UNAVAILABLE' },
  )
})

test('a caller that gives up is heard first, before the work begins too', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const work = withTimeLimit('site', 60, controller, ({ signal }) => never(signal))
  controller.abort(reason)
  await assert.rejects(work, (error) => error === reason)
  let begun = false
  const late = withTimeLimit('site', 60, controller, async () => {
    begun = true
  })
  await assert.rejects(late, (error) => error === reason)
  assert.equal(begun, false)
})

test('work that ends in time gives its result or its own error', async () => {
  const context = { signal: new AbortController().signal }
  assert.equal(await withTimeLimit('site', 60, context, async () => 5), 5)
  const own = new Error('own')
  await assert.rejects(
    withTimeLimit('site', 60, context, () => Promise.reject(own)),
    (error) => error === own,
  )
})
