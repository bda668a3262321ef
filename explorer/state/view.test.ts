import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashToView, newPen, type View, viewToHash } from './view.ts'

const isZone = (name: string) => name === 'UTC' || name === 'Europe/Oslo'
const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value) => (Object.is(value, -0) ? 0 : value))
const plain = { noNullPrototype: true }
const address = fc.string({ minLength: 1 }).map((name) => `plant/${name}`)
const limit = fc.record(
  { side: fc.constantFrom('high' as const, 'low' as const), value: fc.oneof(number, address) },
  plain,
)
const pen = fc.record(
  {
    address: fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed()),
    color: fc.nat({ max: 9 }),
    hidden: fc.boolean(),
    low: fc.option(number),
    high: fc.option(number),
    limits: fc.array(limit, { maxLength: 2 }),
  },
  plain,
)

test('every view comes back from its address, whatever its tags are named', () => {
  const pens = fc.uniqueArray(pen, { maxLength: 6, selector: ({ address }) => address })
  fc.assert(
    fc.property(pens, fc.boolean(), fc.string({ minLength: 1 }), (written, lanes, from) => {
      const fresh = hashToView('', 'UTC', isZone)
      const view: View = {
        ...fresh,
        pens: written,
        lanes,
        from,
        a: 12,
        gaps: '5m',
        condition: from,
        earlierDays: 7,
      }
      assert.deepEqual(hashToView(`#${viewToHash(view, 'UTC')}`, 'UTC', isZone), view)
    }),
  )
})

test('an address that nobody made gives a view all the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (hash) => {
      const view = hashToView(hash, 'UTC', isZone)
      assert.ok(view.pens.length <= 24 && view.from !== '' && view.zone === 'UTC')
    }),
  )
  assert.deepEqual(
    hashToView('#pen=&pen=;&zone=Nowhere&panel=x&a=NaN', 'UTC', isZone),
    hashToView('', 'UTC', isZone),
  )
})

test('a new pen has the colour that is used least', () => {
  const first = newPen('a/a', [])
  const second = newPen('a/b', [first])
  assert.deepEqual([first.color, second.color, newPen('a/c', [second]).color], [0, 1, 0])
})
