import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Version } from '../manifest/version.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { OpenParts } from './part-set.ts'

const version = (number: number, names: readonly string[]) =>
  ({ number, parts: names.map((name) => ({ name, points: 1 })) }) as unknown as Version

/** A store of parts, and the names of those that are open. */
function storeOf() {
  const open: string[] = []
  const store = {
    open(info: PartInfo) {
      open.push(info.name)
      return { info, tombstones: [], close: () => open.splice(open.indexOf(info.name), 1) }
    },
  } as unknown as PartStore
  return { open, store }
}

test('a set that was given up is neither held nor given up again, and closes nothing of others', () => {
  const { open, store } = storeOf()
  const parts = new OpenParts(store, version(1, ['a', 'b']), () => {})
  const set = parts.current
  parts.hold(set)
  parts.moveTo(version(2, ['b', 'c']))
  assert.deepEqual(open, ['a', 'b', 'c'])
  parts.release(set)
  assert.deepEqual(open, ['b', 'c'])
  assert.throws(() => parts.hold(set), /given up before/)
  assert.throws(() => parts.release(set), /given up before/)
  assert.deepEqual(open, ['b', 'c'])
})

test('where no more versions come parts are closed with the last read that is on them, and none is dropped', () => {
  const { open, store } = storeOf()
  const parts = new OpenParts(store, version(1, ['a', 'b']), (name) => assert.fail(`${name} is dropped`))
  const set = parts.current
  parts.hold(set)
  parts.hold(set)
  parts.end()
  parts.release(set)
  assert.deepEqual(open, ['a', 'b'])
  parts.release(set)
  assert.deepEqual(open, [])
  parts.close()
})
