import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldCase } from '../series/tag-names.ts'
import { literalPrefix, narrowest, parseTagPattern } from './tag-pattern.ts'

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

test('several words are all found, in the name or the description', () => {
  const tag = (pattern: string) => parseTagPattern(pattern).matches('P-101.FLOW', 'Feed pump, 12" line')
  for (const pattern of [
    'feed pump',
    'pump feed',
    'PUMP  flow',
    ' p-101 line ',
    'pump pump',
    '12" feed',
    '" "',
  ]) {
    assert.ok(tag(pattern), pattern)
  }
  for (const pattern of [
    'feed motor',
    'pump, feed 13',
    'feedpump',
    '"pump feed"',
    '"feed pump"x',
    'P-101 "flow "',
  ]) {
    assert.ok(!tag(pattern), pattern)
  }
  assert.ok(tag('"Feed pump" flow'))
  assert.ok(!tag('flow "feed  pump"'))
  assert.ok(tag(''))
  assert.ok(tag('   '))
  assert.ok(tag('""'))
  // With a wildcard the text is one pattern, spaces and quotes included.
  assert.ok(tag('feed*line'))
  assert.ok(!tag('feed* flow'))
  assert.ok(!tag('"feed pump"*'))
  assert.ok(tag('*12" line'))
})

test('in quotes a wildcard is a character', () => {
  const { matches, narrow } = parseTagPattern('"a*b" "c?"')
  assert.ok(matches('c? a*b', null))
  assert.ok(!matches('cd a*b', null))
  assert.ok(!matches('c? axb', null))
  assert.deepEqual(narrow, ['*a?b*', '*c?*'])
})

test('a text matches itself, and all that it is narrowed by matches what it matches', () => {
  const unit = fc.constantFrom(...'aAbB "ø*?ſsK\u212a')
  const text = fc.string({ unit, maxLength: 10 })
  fc.assert(
    fc.property(text, text, text, (written, name, description) => {
      const pattern = parseTagPattern(written)
      assert.ok(pattern.matches(written, null), 'itself')
      if (!pattern.matches(name, description)) return
      for (const glob of [...pattern.narrow, narrowest(pattern)]) {
        const whole = parseTagPattern(glob)
        assert.ok(whole.matches(name, description), glob)
        assert.ok(
          [name, description].some((each) => foldCase(each).startsWith(literalPrefix(glob))),
          glob,
        )
      }
    }),
    { numRuns: 5_000 },
  )
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
