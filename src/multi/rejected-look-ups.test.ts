import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody } from '../../test/multi-harness.ts'
import type { Historian } from '../historian/contract.ts'

type FindTags = Historian['findTags']

/** Looks up a tag of two historians, the first one's first. */
async function lookUp(first: FindTags, second: FindTags, signal?: AbortSignal): Promise<unknown> {
  const historians = (
    [
      ['a', first],
      ['b', second],
    ] as const
  ).map(([name, findTags]) => Object.assign(new MemoryHistorian(name), { findTags }))
  const request = (tag: string) => ({ type: 'RAW_POINTS', tag, details: { from: 0, to: 1, maxPoints: 1 } })
  return askBody(
    historians,
    { requests: { a: request('a/FLOW'), b: request('b/FLOW') } },
    signal === undefined ? {} : { signal },
  )
}

const later: FindTags = async () => {
  await setImmediate()
  throw new Error('the connection broke')
}

// A rejection that nobody handles fails these tests by itself: the runner reports it for the test in which it happens.
async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate()
}

test('a client that goes away while one historian looks up and another one throws ends the call', async () => {
  const client = new AbortController()
  const gone: FindTags = () => {
    client.abort()
    throw new Error('the driver is closed')
  }
  await assert.rejects(lookUp(later, gone, client.signal), { code: 'CANCELLED' })
  await settled()
})

test('a driver that answers with nothing is a bug, and leaves no rejection of others behind', async () => {
  await assert.rejects(lookUp(later, (() => null) as unknown as FindTags), TypeError)
  await settled()
})
