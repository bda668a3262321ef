import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WideMap } from '../../scheduling/wide-map.ts'
import { deepSeries, rows, sourceOf } from './deep.fixture.ts'

test('each function of a call counts as 1,250 values: those of a call are bounded by the same budget', () => {
  let level = 0
  const wrap = (inner: string) => `ABS(ADD(${inner},${level++}))`
  const calculation = { levels: 20, leaf: 'h/A', wrap }
  deepSeries(calculation, sourceOf(rows), 53_000)
  assert.throws(() => deepSeries(calculation, sourceOf(rows), 49_000), { code: 'LIMIT_EVALUATED_VALUES' })
})

test('names of functions inside each other do not repeat what is inside on each level', (t) => {
  let characters = 0
  const { get } = WideMap.prototype
  t.mock.method(WideMap.prototype, 'get', function (this: WideMap<string>, key: string) {
    characters += key.length
    return get.call(this, key)
  })
  const list = Array(1_000).fill('1').join()
  const calculation = { levels: 48, leaf: `ADD(h/A,${list})`, wrap: (inner: string) => `NOBAD(${inner})` }
  deepSeries(calculation, sourceOf(rows))
  // Each argument is looked up by a name of some 20 characters.
  assert.ok(characters < 100_000, `${characters} characters of names`)
})

test('equal functions are one operator, and different ones are not, whatever is inside of them', () => {
  const inputsOf = (leaf: string) =>
    deepSeries({ levels: 1, leaf, wrap: (inner) => `ADD(${inner})` }, sourceOf(rows)).operator.inputs.length
  assert.equal(inputsOf('ABS(NEG(h/A)),ABS(NEG(h/A))'), 1)
  assert.equal(inputsOf('ABS(NEG(h/A)),ABS(ABS(h/A))'), 2)
  assert.equal(inputsOf('NEG(ABS(h/A)),ABS(NEG(h/A)),ABS(h/A)'), 3)
  assert.equal(inputsOf('LOWPASS(ABS(h/A), 60),LOWPASS(ABS(h/A), 61),LOWPASS(ABS(h/A), 60)'), 2)
})
