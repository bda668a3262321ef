import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WideMap } from './wide-map.ts'

test('a wide map has what a map has, however many entries there are', () => {
  const step = fc.tuple(fc.constantFrom('set', 'delete', 'get'), fc.integer({ min: 0, max: 40_000 }))
  fc.assert(
    fc.property(
      fc.constantFrom(10, 8_191, 8_192, 30_000),
      fc.array(step, { maxLength: 200 }),
      (entries, steps) => {
        const [wide, plain] = [new WideMap<number>(), new Map<string, number>()]
        const set = (key: string, value: number) => {
          wide.set(key, value)
          plain.set(key, value)
        }
        for (let i = 0; i < entries; i++) set(`local/TAG ${i}`, i)
        for (const [what, at] of steps) {
          const key = `local/TAG ${at}`
          if (what === 'set') set(key, -at)
          if (what === 'delete') {
            wide.delete(key)
            plain.delete(key)
          }
          assert.equal(wide.get(key), plain.get(key))
        }
        for (let i = 0; i < entries; i += 7) {
          assert.equal(wide.get(`local/TAG ${i}`), plain.get(`local/TAG ${i}`))
        }
      },
    ),
    { numRuns: 20 },
  )
})
