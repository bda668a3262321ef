import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAddress, isHistorianName, isReservedHistorian, isTagName, parseAddress } from './address.ts'

function accepted(text: string, historian: string, tag: string) {
  test(`${JSON.stringify(text)} is tag ${JSON.stringify(tag)} of ${historian}`, () => {
    assert.deepEqual(parseAddress(text), { historian, tag })
    assert.equal(formatAddress(historian, tag), text)
  })
}

function refused(text: string, why: string) {
  test(`${JSON.stringify(text.slice(0, 40))} is no address: ${why}`, () =>
    assert.equal(parseAddress(text), null))
}

accepted('local/FLOW', 'local', 'FLOW')
accepted('a/b/c', 'a', 'b/c')
accepted('a//', 'a', '/')
accepted('Plant-1.north_2/Flow (m3/h), "raw"', 'Plant-1.north_2', 'Flow (m3/h), "raw"')
accepted('a/ b ', 'a', ' b ')
accepted('a/b\u{1F600}', 'a', 'b\u{1F600}')
accepted("a/it's\\", 'a', "it's\\")
accepted('a/\u00a0', 'a', '\u00a0')
accepted('a/__proto__', 'a', '__proto__')
accepted(`a/${'x'.repeat(512)}`, 'a', 'x'.repeat(512))
accepted('calc/ADD(1)', 'calc', 'ADD(1)')

refused('', 'nothing at all')
refused('FLOW', 'no slash')
refused('/FLOW', 'no historian')
refused('local/', 'no tag')
refused(' local/FLOW', 'a space in the historian')
refused('lo cal/FLOW', 'a space in the historian')
refused('løcal/FLOW', 'a letter beyond ASCII in the historian')
refused('local/a\nb', 'a newline')
refused('local/\u0000', 'NUL')
refused('local/\u007f', 'DEL')
refused('local/\u0085', 'a C1 control character')
refused('local/\ud83d', 'a lone surrogate')
refused('local/\ude00\ud83d', 'surrogates in the wrong order')
refused(`local/${'x'.repeat(513)}`, 'too long')
refused(`local/${'\u{1F600}'.repeat(257)}`, '514 UTF-16 units')

test('names of built-in historians are reserved in any case', () => {
  for (const name of [
    'calc',
    'Calc',
    'constants',
    'value',
    'siggen',
    'dates',
    'date',
    'aliases',
    'ALIASES',
  ]) {
    assert.equal(isReservedHistorian(name), true, name)
  }
  assert.equal(isReservedHistorian('local'), false)
  assert.equal(isReservedHistorian('constructor'), false)
})

test('a name is judged alone too', () => {
  assert.equal(isHistorianName('a.b-c_D9'), true)
  assert.equal(isHistorianName(''), false)
  assert.equal(isHistorianName('a/b'), false)
  assert.equal(isHistorianName('a\n'), false)
  assert.equal(isTagName(''), false)
  assert.equal(isTagName('a/b'), true)
})
