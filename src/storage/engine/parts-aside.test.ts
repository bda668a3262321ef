import assert from 'node:assert/strict'
import test from 'node:test'
import { ThreadEnded } from '../background-thread.ts'
import { Damage } from '../damage.ts'
import type { PartInfo } from '../parts/part.ts'
import { PartsAside } from './parts-aside.ts'

const FIRST_MS = 1_000
const DAY_MS = 86_400_000
const parts = (...names: string[]) =>
  names.map((name) => ({ name, firstTime: 0, lastTime: 1_000_000 })) as unknown as readonly PartInfo[]
const ended = new ThreadEnded('the thread of merges', null)

test('parts are set aside after three failures, each time for twice as long, up to a day', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const aside = new PartsAside('plant', FIRST_MS, null)
  const all = parts('a', 'b', 'c')
  for (let i = 0; i < 2; i++) assert.equal(aside.failed(all.slice(0, 2), ended), false)
  assert.equal(aside.sentence, null)
  assert.ok(aside.failed(all.slice(0, 2), ended))
  assert.equal(aside.waitMs, FIRST_MS)
  now = FIRST_MS - 1
  assert.deepEqual([...aside.namesNow(all)], ['a', 'b'])
  now = FIRST_MS
  assert.deepEqual([...aside.namesNow(all)], [])
  // It is known that they fail, also with others.
  assert.equal(aside.waitMs, null)
  assert.ok(aside.failed(all, ended))
  assert.equal(aside.waitMs, 2 * FIRST_MS)
  assert.deepEqual([...aside.namesNow(all)], ['a', 'b', 'c'])
  assert.equal(
    aside.sentence,
    '3 parts with points from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:01.000Z cannot be merged: 4 tries have failed, ' +
      'and others follow seldom',
  )
  for (let i = 0; i < 40; i++) {
    assert.ok(aside.failed(all, ended))
    assert.ok(aside.waitMs! <= DAY_MS)
  }
  assert.equal(aside.waitMs, DAY_MS)
  // Merged, or gone.
  assert.deepEqual([...aside.namesNow(parts('d'))], [])
  assert.equal(aside.sentence, null)
  assert.equal(aside.failed(all, ended), false)
})

test('parts that were set aside when they were looked at are waited for until they are looked at again', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const aside = new PartsAside('plant', FIRST_MS, null)
  const all = parts('a', 'b')
  for (let i = 0; i < 3; i++) aside.failed(all, ended)
  now = FIRST_MS - 0.5
  assert.deepEqual([...aside.namesNow(all)], ['a', 'b'])
  assert.equal(aside.waitMs, 0.5)
  now = FIRST_MS + 0.5
  assert.equal(aside.waitMs, 0)
  assert.deepEqual([...aside.namesNow(all)], [])
  assert.equal(aside.waitMs, null)
})

test('an error of the program sets parts aside, too; what the disk reports, and damage, do not', () => {
  const aside = new PartsAside('plant', FIRST_MS, null)
  const eio = Object.assign(new Error('EIO'), { code: 'EIO' })
  for (let i = 0; i < 10; i++) {
    assert.equal(aside.failed(parts('a'), eio), false)
    assert.equal(aside.failed(parts('a'), new Damage('a block')), false)
  }
  for (const isAside of [false, false, true]) {
    assert.equal(aside.failed(parts('a'), new RangeError('Invalid array length')), isAside)
  }
})
