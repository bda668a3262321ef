import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLostReport, parseLostReport } from './lost-report.ts'

const AT = Date.UTC(2026, 0, 15, 12) * 1_000

test('a report is a text that a person can read', () => {
  const report = {
    lost: ['record 3 of the log', 'tags of the catalog'],
    unknown: ['whether there were records after number 5'],
    isLogAnew: true,
  }
  assert.deepEqual(formatLostReport('plant', AT, report).split('\n').slice(0, -2), [
    'What a repair could not keep of the historian plant, 2026-01-15T12:00:00.000Z.',
    'No repair reads it any more when its name ends in .txt: it may be deleted then.',
    '',
    'lost: record 3 of the log',
    'lost: tags of the catalog',
    'not known: whether there were records after number 5',
    '',
    'The log was written anew: earlier backups and its archive end before that. Make a backup.',
    '',
  ])
})

test('a report of today is read by later versions', () => {
  const text = formatLostReport('plant', AT, { lost: ['record 3 of the log'], unknown: [], isLogAnew: false })
  assert.equal(text.split('\n').at(-2), 'end of the report, CRC-32 77453bf2')
  const written = `What a repair could not keep of the historian plant, 2026-01-15T12:00:00.000Z.
No repair reads it any more when its name ends in .txt: it may be deleted then.

lost: record 3 of the log

end of the report, CRC-32 77453bf2
`
  assert.deepEqual(parseLostReport(written), { lost: ['record 3 of the log'], unknown: [], isLogAnew: false })
})

test('a report gives the sentences that it was made of, whatever names they have', () => {
  const lost = [
    'a tag line\nlost: another\r\u2028\u2029, before another one got its name',
    'a tag \\u{a} of a \\folder\\',
    'a tag \ud83d, and \ude00\ud83d: halves of a pair',
    'a tag \u202eegnaro \u{1f600} °C',
    '',
  ]
  for (const isLogAnew of [true, false]) {
    const report = { lost, unknown: lost.toReversed(), isLogAnew }
    const bytes = Buffer.from(formatLostReport('a\nhistorian', AT, report))
    assert.deepEqual(parseLostReport(bytes.toString()), report)
  }
})

test('a report that is cut off at any byte, or has one that is changed, is none', () => {
  const bytes = Buffer.from(
    formatLostReport('plant', AT, { lost: ['a tag °C'], unknown: ['another'], isLogAnew: false }),
  )
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(parseLostReport(bytes.toString('utf8', 0, length)), null, `${length} bytes`)
    // As long as it was to be, with what is not on disk yet.
    const zeros = Buffer.concat([bytes.subarray(0, length), Buffer.alloc(bytes.length - length)])
    assert.equal(parseLostReport(zeros.toString()), null, `${length} bytes, and zeros`)
    const changed = Buffer.from(bytes)
    changed[length]! ^= 4
    assert.equal(parseLostReport(changed.toString()), null, `byte ${length}`)
  }
  assert.notEqual(parseLostReport(bytes.toString()), null)
})
