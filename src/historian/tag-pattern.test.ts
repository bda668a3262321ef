import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldCase } from '../series/tag-names.ts'
import { literalPrefix, parseTagPattern } from './tag-pattern.ts'

/** The plainest matcher that is right, for comparison: exponential, so only for short texts. */
function plainMatch(pattern: readonly string[], text: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return text.length === 0
  if (first === '*') return plainMatch(rest, text) || (text.length > 0 && plainMatch(pattern, text.slice(1)))
  return text.length > 0 && (first === '?' || first === text[0]) && plainMatch(rest, text.slice(1))
}

test('any pattern matches what the plainest matcher matches', () => {
  const letters = fc.constantFrom('a', 'b', 'A', '\u{1F525}', 'ø')
  const pattern = fc.array(fc.oneof(letters, fc.constantFrom('*', '?')), { maxLength: 8 })
  const text = fc.array(letters, { maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (wanted, name) => {
      const hasWildcards = wanted.includes('*') || wanted.includes('?')
      const whole = hasWildcards ? wanted : ['*', ...wanted, '*']
      const folded = (characters: readonly string[]) => characters.map((character) => foldCase(character))
      assert.equal(
        parseTagPattern(wanted.join('')).matches(name.join(''), null),
        plainMatch(folded(whole), folded(name)),
      )
    }),
    { numRuns: 5_000 },
  )
})

test('a pattern matches the name or the description', () => {
  const { matches } = parseTagPattern('feed*')
  assert.ok(matches('Feed pump', null))
  assert.ok(matches('P-101', 'FEED water pump'))
  assert.ok(!matches('P-101', 'the feed'))
  assert.ok(!matches('P-101', null))
})

test('the literal prefix is what every match begins with', () => {
  assert.equal(literalPrefix('Pump*'), 'pump')
  assert.equal(literalPrefix('ØST?1'), 'øst')
  assert.equal(literalPrefix('pump'), '')
  assert.equal(literalPrefix('*pump'), '')
  assert.equal(literalPrefix(''), '')
})

test('a hostile pattern takes no more steps than texts and patterns are long', () => {
  // Backtracking would not end within the age of the universe.
  const name = 'a'.repeat(512)
  assert.ok(!parseTagPattern(`${'*a'.repeat(200)}*b`).matches(name, name))
  assert.ok(!parseTagPattern(`${'*?a'.repeat(160)}*b?`).matches(name, name))
  assert.ok(parseTagPattern(`${'*a'.repeat(512)}`).matches(name, null))
})
