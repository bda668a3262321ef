import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTagPattern } from '../../historian/tag-pattern.ts'
import { likePatterns } from './like.ts'

/** LIKE as PostgreSQL has it, over a text in which ASCII was made upper case. */
function like(text: string, pattern: string): boolean {
  const source = pattern.replace(
    /\\([\s\S])|%|_|[.*+?^${}()|[\]/]/gu,
    (whole, escaped: string | undefined) => {
      if (escaped !== undefined) return escaped.replace(/[.*+?^${}()|[\]\\/]/, '\\$&')
      if (whole === '%') return '[^]*'
      return whole === '_' ? '[^]' : `\\${whole}`
    },
  )
  return new RegExp(`^${source}$`, 'u').test(text.replace(/[a-z]/g, (letter) => letter.toUpperCase()))
}

test('a search pattern becomes a pattern for LIKE without the letters that other scripts share', () => {
  const likePattern = (text: string) => likePatterns(parseTagPattern(text))[0] ?? null
  const cases: readonly (readonly [text: string, pattern: string | null])[] = [
    ['pump', '%PUMP%'],
    ['pump*', 'PUMP%'],
    ['*flow/?', '%FLOW/_'],
    ['Tank', '%TAN_%'],
    ['100%_\\', '%100\\%\\_\\\\%'],
    ['ærø', '%_R_%'],
    ['æøå', null],
    ['sik*', null],
    ['*', null],
    ['"a*b"', '%A_B%'],
    ['"a\nb"', '%A_B%'],
    [`${'a*'.repeat(50)}b`, `${'A%'.repeat(8)}`],
  ]
  for (const [text, pattern] of cases) assert.equal(likePattern(text), pattern, text)
  assert.deepEqual(likePatterns(parseTagPattern('feed Pump ø')), ['%FEED%', '%PUMP%'])
  assert.equal(likePatterns(parseTagPattern('a b c d e f')).length, 4)
  assert.ok(likePattern(`${'\\'.repeat(500)}x`)!.length <= 201)
  assert.match(likePattern(`${'\\'.repeat(500)}x`)!, /^%(\\\\)+%$/)
})

test('whatever a search pattern matches, LIKE matches too', () => {
  const character = fc.constantFrom(
    ...'aAkKsSiIxX%_\\/ é*? "',
    '\u212a',
    'ſ',
    'ı',
    'İ',
    'ß',
    'Σ',
    'ς',
    '\u{1F525}',
    '\n',
  )
  const text = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''))
  fc.assert(
    fc.property(text, text, text, (name, description, written) => {
      const pattern = parseTagPattern(written)
      if (!pattern.matches(name, description)) return
      for (const narrowed of likePatterns(pattern)) {
        assert.ok(like(name, narrowed) || like(description, narrowed), narrowed)
      }
    }),
    { numRuns: 2_000 },
  )
})
