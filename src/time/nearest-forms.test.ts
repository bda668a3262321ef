import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearestForms } from './nearest-forms.ts'
import { parseTime } from './parse.ts'
import { instant, zone } from './time.fixture.ts'

const CONTEXT = { now: instant('2026-04-22T10:15:30.123456Z'), zone: zone('Europe/Oslo') }

test('a time that cannot be read is answered with the two nearest forms', () => {
  const cases: readonly (readonly [unknown, string, string])[] = [
    ['22/4/2026', '2026-04-22', '22.04.2026'],
    ['4/22/2026 10:00', '2026-04-22 10:00', '22.04.2026 10:00'],
    // Either could be the day: both readings are shown.
    ['04/05/2026', '2026-05-04', '2026-04-05'],
    ['2026/04/22 10:00:05', '2026-04-22 10:00:05', '22.04.2026 10:00:05'],
    ['2026-4-2', '2026-04-02', '02.04.2026'],
    ['2026-02-30', '2026-02-28', '28.02.2026'],
    ['2026-04', '2026-04-01', '01.04.2026'],
    ['22.4.26', '2026-04-22', '22.04.2026'],
    ['2026-04-22 5:07 pm', '2026-04-22 17:07', '22.04.2026 17:07'],
    ['2026-04-22T10:00 Europe/Oslo', '2026-04-22 10:00[Europe/Oslo]', '22.04.2026 10:00[Europe/Oslo]'],
    ['2026-04-22T12:00+01:00[Europe/Oslo]', '2026-04-22 12:00', '22.04.2026 12:00'],
    ['01/Jan/2022:05:00:00', '2022-01-01 05:00:00', '01.01.2022 05:00:00'],
    ['Thu, 1 Jan 22', '2022-01-01', '01.01.2022'],
    ['yesteday', 'yesterday', 'yesterday at 06:00'],
    ['yesterday at 6', 'yesterday at 06:00', 'yesterday'],
    ['2 hours bevor', '2 hours ago', 'now-2h'],
    ['last 3 months', '3 months ago', 'now-3M'],
    ['-2h', '2 h ago', 'now-2h'],
    ['now - 2 hours', '2 hours ago', 'now-2h'],
    ['last mondy at 06:00', 'last monday at 06:00', 'monday at 06:00'],
    ['begining of month', 'begin of month', '2026-04-22T10:00:00Z'],
    ['last week', 'begin of last week', 'end of last week'],
    ['10:00', 'today at 10:00', 'yesterday at 10:00'],
    ['16:00 yesterday', 'yesterday at 16:00', '2026-04-22T10:00:00Z'],
    ['2300-01-01', '2026-04-22', '22.04.2026'],
    ['2026-13-01', '2026-04-22', '22.04.2026'],
    ['01.01.2300', '22.04.2026', '2026-04-22'],
    ['99999999999', '1768478400000', '2026-04-22'],
    ['soon', '2026-04-22T10:00:00Z', '2 hours ago'],
    [null, '2026-04-22T10:00:00Z', '2 hours ago'],
    [{}, '2026-04-22T10:00:00Z', '2 hours ago'],
    ['', '2026-04-22T10:00:00Z', '2 hours ago'],
  ]
  for (const [input, ...expected] of cases) {
    assert.equal(parseTime(input, CONTEXT), null, `${input} is accepted`)
    assert.deepEqual(nearestForms(input, CONTEXT), expected, `${input}`)
  }
})

test('whatever was written, the forms are two different ones that are accepted', () => {
  const chunk = fc.constantFrom(
    ...'now today yesteday at ago in , and 2 h hours 31 02 2026 1e300 / - . : pm Jan [Europe/Oslo] Z +02:00 monday'.split(
      ' ',
    ),
  )
  const written = fc
    .array(chunk, { maxLength: 9 })
    .chain((chunks) => fc.constantFrom(chunks.join(' '), chunks.join('')))
  fc.assert(
    fc.property(fc.oneof(written, fc.string({ unit: 'binary', maxLength: 300 }), fc.anything()), (input) => {
      const forms = nearestForms(input, CONTEXT)
      assert.equal(new Set(forms).size, 2)
      for (const form of forms) assert.notEqual(parseTime(form, CONTEXT), null, form)
    }),
    { numRuns: 2000 },
  )
})
