import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTagPattern } from '../../historian/tag-pattern.ts'
import { literalPart, literalParts } from './search-literal.ts'

describe('the literal part of a pattern', () => {
  test('is the longest of its parts that fold alike everywhere', () => {
    const cases: readonly (readonly [string, string | null])[] = [
      ['pump', 'pump'],
      ['*flow*temp?1*', 'flow'],
      ['*', null],
      ['', null],
      ['SKI', null],
      ['mask', 'ma'],
      ['ærø/long', '/long'],
      ["it's", "t'"],
    ]
    assert.deepEqual(literalParts(parseTagPattern('feed "a*b pump" s')), ['feed', 'b pump'])
    for (const [pattern, part] of cases) assert.equal(literalPart(pattern), part, pattern)
  })

  test('stands in every text that matches', () => {
    const unit = fc.constantFrom(
      'a',
      'A',
      's',
      'ſ',
      'k',
      '\u212a',
      'i',
      'ı',
      'İ',
      'é',
      '*',
      '?',
      ' ',
      '"',
      '/',
      'Σ',
      'ς',
      '\u{1f525}',
    )
    const ascii = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), fc.string({ unit, maxLength: 8 }), (written, text) => {
        const pattern = parseTagPattern(written)
        if (!pattern.matches(text, null)) return
        for (const part of literalParts(pattern)) assert.ok(ascii(text).includes(ascii(part)))
      }),
      { numRuns: 5_000 },
    )
  })
})
