import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { ERRORS } from './codes.ts'

test('the table has the codes of all subjects, and none stands in two of them', async () => {
  const folder = new URL('./codes/', import.meta.url)
  const codes: string[] = []
  for (const file of await readdir(folder)) {
    const tables = Object.values((await import(new URL(file, folder).href)) as Record<string, object>)
    codes.push(...tables.flatMap(Object.keys))
  }
  assert.deepEqual(codes.sort(), Object.keys(ERRORS).sort())
})

test('the sentence of each limit says what to do about it', () => {
  // The load limits end with what would be allowed, which depends on the call (src/multi/remedy.ts).
  const ends = ['REQUESTED_POINTS', 'HISTORIAN_LOAD', 'EFFECTIVE_TAGS', 'AGGREGATE_WINDOWS']
  const sentences = Object.entries(ERRORS).filter(([code]) => code.startsWith('LIMIT_'))
  const without = sentences
    .filter(([, { text }]) => !/[:;,] (ask|send|use) /.test(text))
    .map(([code]) => code)
  assert.deepEqual(without.sort(), ends.map((end) => `LIMIT_${end}`).sort())
})
