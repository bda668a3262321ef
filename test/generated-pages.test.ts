import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outdatedPages } from '../scripts/generate.ts'

test('generated pages say what the code says; `npm run generate` writes them anew', () => {
  assert.deepEqual(outdatedPages(), [])
})
