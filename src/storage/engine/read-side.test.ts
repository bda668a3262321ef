import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Version } from '../manifest/version.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import type { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'
import { OpenParts } from './part-set.ts'
import { ReadSide } from './read-side.ts'

const { signal } = new AbortController()

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Reads of a historian of one part that another process changes, and what is open of it. */
function bench() {
  const open = ['publication']
  const store = {
    open(info: PartInfo) {
      open.push(info.name)
      return { info, tombstones: [], close: () => open.splice(open.indexOf(info.name), 1) }
    },
  } as unknown as PartStore
  const version = { number: 1, parts: [{ name: 'part', points: 1 }] } as unknown as Version
  const parts = new OpenParts(store, version, () => {})
  const state = { parts, errors: { ofRead: (error: unknown) => error } } as unknown as EngineState
  let waitsFor: Promise<void> | null = null
  const reads = new ReadSide(state, {
    catchUp: () => waitsFor,
    close: () => void (open.includes('publication') && open.splice(open.indexOf('publication'), 1)),
  })
  /** Has reads wait from now on; gives what ends that, well or not. */
  const hold = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waitsFor = promise
    return (error?: Error) => {
      waitsFor = null
      if (error === undefined) resolve()
      else reject(error)
    }
  }
  return { reads, open, hold }
}

test('where no more reads come all is closed: what is followed when none waits for it, parts when the last one ends', async () => {
  const { reads, open, hold } = bench()
  const goOn = hold()
  const begun = Promise.withResolvers<EngineSnapshot>()
  const isOver = Promise.withResolvers<void>()
  const read = reads.read(signal, (snapshot) => {
    begun.resolve(snapshot)
    return isOver.promise
  })
  const each = Promise.resolve(reads.readEach(signal, 1, 'read', () => {}))
  reads.end()
  await turn()
  assert.deepEqual(open, ['publication', 'part'])
  goOn()
  await begun.promise
  assert.equal(await each, 'read')
  await turn()
  assert.deepEqual(open, ['part'])
  isOver.resolve()
  await read
  assert.deepEqual(open, [])
})

test('reads that fail while they wait keep nothing open where no more come', async () => {
  const { reads, open, hold } = bench()
  const fail = hold()
  const failed = [
    assert.rejects(
      reads.read(signal, () => {}),
      /lost/,
    ),
    assert.rejects(Promise.resolve(reads.readEach(signal, 1, null, () => {})), /lost/),
  ]
  reads.end()
  fail(new Error('lost'))
  await Promise.all(failed)
  assert.deepEqual(open, [])
})
