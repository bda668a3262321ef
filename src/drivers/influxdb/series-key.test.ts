import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineKey, lineMeasurement } from './line-protocol.ts'
import { parseSeriesKey } from './series-key.ts'

test('a series key is read as InfluxDB writes it', () => {
  assert.deepEqual(parseSeriesKey('cpu'), { measurement: 'cpu', tags: [] })
  assert.deepEqual(parseSeriesKey('cpu\\ load,host=a\\,b,b\\=c=d\\\\,e'.replace(',e', '')), {
    measurement: 'cpu load',
    tags: [
      ['b=c', 'd\\\\'],
      ['host', 'a,b'],
    ],
  })
  assert.equal(parseSeriesKey(''), null)
  assert.equal(parseSeriesKey('cpu,host'), null)
})

const name = fc
  .string({ unit: fc.constantFrom(',', '=', ' ', '\\', '"', 'a', 'é'), minLength: 1, maxLength: 12 })
  .filter((text) => !text.endsWith('\\'))

test('what lines escape is read back, whatever the names hold', () => {
  fc.assert(
    fc.property(
      name,
      fc.dictionary(name, name, { maxKeys: 3, noNullPrototype: true }),
      (measurement, found) => {
        const tags = Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1))
        const key = [
          // A measurement's equals sign is not escaped.
          lineMeasurement(measurement),
          ...tags.map(([tag, value]) => `${lineKey(tag)}=${lineKey(value)}`),
        ].join(',')
        assert.deepEqual(parseSeriesKey(key), { measurement, tags })
      },
    ),
  )
})
