import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access } from '../access.ts'
import { MetadataPlan } from './metadata-plan.ts'

const target = { addressOf: (name: string) => `local/${name}` }

/** An access whose historian answers a question for metadata with a problem of this code. */
function accessWith(code: string) {
  const puts: object[] = []
  const access = {
    getMetadata: async () => ({ entries: new Map(), problems: [{ code, sentence: 'No answer' }] }),
    putMetadata: async (_change: string, body: object) => {
      puts.push(body)
      return { entries: new Map(), problems: [] }
    },
  } as unknown as Access
  return { access, puts }
}

test('metadata of tags that a historian cannot answer for stay as they are', async () => {
  const plan = new MetadataPlan({ stepped: ['A'] })
  const { access, puts } = accessWith('HISTORIAN_UNAVAILABLE')
  await assert.rejects(plan.apply(access, new Set(['local/A']), target), {
    message: 'The points are written, but not the metadata of all tags:\n  No answer',
    exitCode: 3,
  })
  assert.deepEqual(puts, [])
})

test('metadata of tags that have no points yet are stored', async () => {
  const plan = new MetadataPlan({ stepped: ['A'] })
  const { access, puts } = accessWith('TAG_NOT_FOUND')
  await plan.apply(access, new Set(['local/A']), target)
  const entries = { 'local/A': { description: null, units: null, stepped: true } }
  assert.deepEqual(puts, [{ entries, updateIfExists: true }])
})
