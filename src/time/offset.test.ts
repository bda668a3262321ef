import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { applyOffset, type Offset, parseOffset, resolveReference } from './offset.ts'
import { instant, shown, zone } from './time.fixture.ts'

const AT = instant('2026-03-29T10:00:00Z')
const offset = (text: string): Offset => {
  const parsed = parseOffset(text)
  if (parsed === null) throw new Error(`no offset ${text}`)
  return parsed
}

test('offsets', () => {
  const leads = (text: string, expected: string, id = 'UTC'): void =>
    assert.equal(shown(applyOffset(AT, offset(text), zone(id))), expected, text)
  leads('-2h', '2026-03-29T08:00:00Z')
  leads('2h', '2026-03-29T12:00:00Z')
  leads('+2h', '2026-03-29T12:00:00Z')
  leads('-PT90S', '2026-03-29T09:58:30Z')
  leads('0', '2026-03-29T10:00:00Z')
  leads('-0', '2026-03-29T10:00:00Z')
  leads('0h', '2026-03-29T10:00:00Z')
  leads('-3600000', '2026-03-29T09:00:00Z')
  leads('0.5', '2026-03-29T10:00:00.0005Z')
  leads('-02:00', '2026-03-29T08:00:00Z')
  leads('06:00', '2026-03-29T16:00:00Z')
  leads('-00:00:01', '2026-03-29T09:59:59Z')
  leads('-48:00', '2026-03-27T10:00:00Z')
  leads('-1d', '2026-03-28T11:00:00Z', 'Europe/Oslo')
  leads('-24h', '2026-03-28T10:00:00Z', 'Europe/Oslo')
  leads('1mo', '2026-04-29T10:00:00Z')
  leads('last moment of yesterday', '2026-03-28T23:59:59.999Z')
  leads('2 hours ago', '2026-03-29T08:00:00Z')
  leads('*-8h', '2026-03-29T02:00:00Z')
  leads('now-1d/d', '2026-03-27T23:00:00Z', 'Europe/Oslo')
})

test('an offset that leads out of the accepted range gives null', () => {
  for (const text of ['500y', '-400y']) {
    assert.equal(applyOffset(AT, offset(text), zone('UTC')), null, text)
  }
  assert.equal(applyOffset(instant('1700-01-01T00:00:00Z'), offset('-00:00:01'), zone('UTC')), null)
  assert.equal(applyOffset(instant('1700-01-01T00:00:00Z'), offset('yesterday'), zone('UTC')), null)
})

test('what is no offset is null', () => {
  for (const text of [
    '',
    '-',
    '--1h',
    '- 1h',
    '1x',
    '2:00',
    '02:60',
    '02:00:60',
    '2026-01-01',
    '100:00',
    'tag',
    '1M',
  ]) {
    assert.equal(parseOffset(text), null, text)
  }
})

test('as a reference, a time without a sign is that time of today', () => {
  const names = (text: string, expected: string | null, id = 'Europe/Oslo'): void =>
    assert.equal(shown(resolveReference(offset(text), AT, zone(id))), expected, text)
  names('06:00', '2026-03-29T04:00:00Z')
  names('00:00', '2026-03-28T23:00:00Z')
  names('02:30', '2026-03-29T01:30:00Z')
  names('-02:00', '2026-03-29T08:00:00Z')
  names('+02:00', '2026-03-29T12:00:00Z')
  names('-2h', '2026-03-29T08:00:00Z')
  names('2h', '2026-03-29T12:00:00Z')
  names('yesterday at 06:00', '2026-03-28T05:00:00Z')
  names('24:00', null)
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseOffset(text)))
})
