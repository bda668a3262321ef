import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keep } from '../../../test/property/retention-model.ts'
import { carriedOver } from './rules.ts'
import { NO_WATERMARK } from './tag-watermarks.ts'

test('rules take over the watermark of the rule that counted: of two of one pattern that of the first', () => {
  const before = { clock: 9, matches: ['a', '*', 'a', '*'], watermarks: [1, 2, 3, NO_WATERMARK] }
  const after = carriedOver([keep('*', 60), keep('b', 60), keep('a', 60)], before)
  assert.deepEqual(after, { clock: 9, matches: ['*', 'b', 'a'], watermarks: [2, NO_WATERMARK, 1] })
})
