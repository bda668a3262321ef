import assert from 'node:assert/strict'
import test from 'node:test'
import { get, LOCAL_KEY, READ_KEY, testService } from '../../../../test/http/service.ts'
import type { Catalogue } from '../../../calc/functions/catalogue.ts'
import { SIGNATURES } from '../../../calc/functions/index.ts'
import { VIRTUAL_HISTORIANS } from '../../../calc/virtual/historians.ts'

const { app } = testService()

async function list(headers: Record<string, string>): Promise<Catalogue> {
  const { status, text } = await get(app, '/historian/calculations', headers)
  assert.equal(status, 200)
  return JSON.parse(text)
}

test('every function and alias that a calculation can name is listed, and every virtual historian', async () => {
  const { functions, virtualHistorians } = await list({ 'x-api-key': READ_KEY })
  const names = functions.flatMap(({ name, aliases }) => [name, ...aliases])
  assert.deepEqual(names.sort(), [...SIGNATURES.keys()].sort())
  assert.deepEqual(
    virtualHistorians.map(({ name }) => name),
    [...VIRTUAL_HISTORIANS.keys(), 'aliases'],
  )
})

test('a function has its parameters, rules and examples', async () => {
  const { functions } = await list({ 'x-api-key': LOCAL_KEY })
  const pow = functions.find(({ name }) => name === 'POW')
  assert.deepEqual(pow?.aliases, ['POWER'])
  assert.equal(pow.usage, 'POW(x, p)')
  assert.equal(pow.section, 'arithmetic')
  assert.deepEqual(pow.parameters[0], {
    name: 'x',
    kind: 'series',
    takes: 'a tag, a number or a calculation',
    optional: false,
    repeat: false,
    words: [],
  })
  assert.deepEqual(pow.examples[0], { calculation: 'POW(25, 0.5)', value: 5 })
  for (const { summary, nulls, stepped, rawTimes, cost, examples } of functions) {
    for (const sentence of [summary, nulls, stepped, rawTimes, cost]) assert.match(sentence, /\.$/)
    assert.ok(examples.length > 0)
  }
})

test('a key is needed', async () => {
  assert.equal((await get(app, '/historian/calculations', {})).status, 401)
})
