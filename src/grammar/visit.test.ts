import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from './parser.ts'
import { OPTIONS } from './signatures.fixture.ts'
import { tagsOf } from './visit.ts'

function tags(text: string, expected: readonly string[]) {
  test(`${text} has ${expected.length} tags`, () => {
    assert.deepEqual(
      tagsOf(parseTag(text, OPTIONS)).map((tag) => `${tag.historian}/${tag.name}`),
      expected,
    )
  })
}

tags('local/a', ['local/a'])
tags('calc/ADD(local/b, NEG(local/a), 5, local/b)', ['local/b', 'local/a', 'constants/5', 'local/b'])
tags('calc/TOTALISE(NEG(local/a), 1d, 06:00, 1h)', ['local/a'])
tags('calc/IFTAGEXISTS(NOSUCH(local/a), local/b)', ['local/b'])
tags('calc/NOW_MS()', [])
