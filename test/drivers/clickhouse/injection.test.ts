import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { quoteDouble, quoteInt, quoteName, quoteText } from '../../../src/drivers/clickhouse/quote.ts'
import type { Historian, TagMetadata } from '../../../src/historian/contract.ts'
import { parseTagPattern } from '../../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { assertPoints, EVER, points } from '../../contract/points.ts'
import { HOSTILE_NAMES } from '../../contract/tag-promises.ts'
import type { ClickhouseEngine } from '../../servers/clickhouse.ts'
import { ENGINES } from '../../servers/clickhouse-engines.ts'
import { openHistorian } from './open.ts'

const FINITE = { noNaN: true, noDefaultInfinity: true }
const context = { signal: new AbortController().signal }

/** What breaks out of quotes, literals and formats, where it is not held. */
const PIECES = [
  ...[
    "'",
    "''",
    "\\'",
    '\\\\',
    '\\',
    '"',
    '`',
    ';',
    ',',
    '=',
    ' ',
    '\t',
    '\n',
    '\r',
    '\0',
    '\\0',
    '\\x27',
    '\\n',
    '\\N',
  ],
  ...[
    '--',
    '/*',
    '*/',
    '#',
    '{',
    '}',
    '{x:String}',
    '%',
    '_',
    '*',
    '?',
    '(',
    ')',
    '[',
    ']',
    'FORMAT TSV',
    'é',
    '\u{1f525}',
    'a',
  ],
  ..."' OR 1=1 --|'; DROP TABLE points; --|') UNION ALL SELECT 1".split('|'),
]
const text = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))

for (const engine of ENGINES) {
  describe(`${engine.name}: what comes from outside is data for ClickHouse`, { skip: engine.skip }, () => {
    let server: ClickhouseEngine
    let historian: Historian
    before(async () => {
      server = await engine.start()
      historian = await openHistorian({ urls: [server.url] })
    })
    after(async () => {
      await historian.close()
      await server.kill()
    })

    /** Everything that a name goes through; what it changes is that name's only. */
    async function roundTrip(names: readonly string[]): Promise<void> {
      const entries = names.map((tag, index) => ({ tag, points: points([index, index + 0.5]) }))
      await historian.write(writeBatch(entries, true), context)
      const about = (name: string): TagMetadata => ({
        description: `${name}\n'${name}"\\`,
        units: name,
        stepped: true,
      })
      const put = names.map((name) => ({ name, metadata: about(name) }))
      await historian.putTags(put, 'update', context)
      assert.deepEqual(await historian.findTags(names, context), names.map(about))
      const read = await historian.readRanges(
        names.map((tag) => ({ tag, ...EVER, order: 'asc' as const, limit: 10 })),
        context,
      )
      read.forEach((found, index) => {
        assertPoints(found.points, points([index, index + 0.5]), names[index])
      })
      for (const name of names) {
        const pattern = parseTagPattern(name)
        const found = await historian.searchTags({ pattern, after: null, limit: 1_000 }, context)
        assert.ok(
          found.tags.some((tag) => tag.name === name),
          name,
        )
        const next = await historian.searchTags({ pattern: null, after: name, limit: 1 }, context)
        assert.ok(
          next.tags.every((tag) => Buffer.compare(Buffer.from(tag.name), Buffer.from(name)) > 0),
          name,
        )
      }
      const [first = '', ...others] = names
      assert.deepEqual(await historian.deleteTags!([first], false, context), [1])
      assert.deepEqual(await historian.findTags([first], context), [null])
      assert.deepEqual(await historian.findTags(others, context), others.map(about))
      if (others.length > 0) await historian.deleteTags!(others, false, context)
    }

    test('names, patterns, descriptions and units of any text', async () => {
      await roundTrip(HOSTILE_NAMES)
      await fc.assert(fc.asyncProperty(fc.uniqueArray(text, { minLength: 2, maxLength: 4 }), roundTrip), {
        numRuns: 15,
      })
      const tables = await server.sql(
        "SELECT name FROM system.tables WHERE database = 'tidemark' ORDER BY name",
      )
      assert.equal(tables, 'points\ntags')
    })

    test('literals mean to the server what they are made from', async () => {
      const texts = fc.sample(text, { numRuns: 100, seed: 1 })
      const literals = texts.map(quoteText)
      // As hexadecimal digits, so that no format stands in between.
      const hex = await server.sql(
        `${literals.map((literal) => `SELECT hex(${literal})`).join(' UNION ALL ')} FORMAT TabSeparated`,
      )
      const expected = texts.map((one) => Buffer.from(one, 'utf8').toString('hex').toUpperCase())
      assert.deepEqual(hex.split('\n').sort(), expected.sort())
      assert.equal(
        await server.sql(`SELECT 1 AS ${quoteName("a`b\\c'd")} FORMAT TabSeparatedWithNames`),
        "a`b\\\\c\\'d\n1",
      )
      for (const number of [0, -1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]) {
        assert.equal(await server.sql(`SELECT toInt64(${quoteInt(number)})`), String(number))
      }
      assert.equal(
        await server.sql(`SELECT toInt64(${quoteInt(-1e300)}) < toInt64(-9000000000000000000)`),
        '1',
      )
    })

    test('doubles mean to the server what they are, to the last bit', async () => {
      const doubles = [
        0.1,
        -0,
        5e-324,
        Number.MAX_VALUE,
        ...fc.sample(fc.double(FINITE), { numRuns: 100, seed: 1 }),
      ]
      const bits = await server.sql(
        `SELECT hex(reinterpretAsString(arrayJoin([${doubles.map(quoteDouble).join(', ')}]))) FORMAT TabSeparated`,
      )
      // The server leaves out bytes of 0 at the end.
      const expected = doubles.map((double) => {
        const bytes = Buffer.alloc(8)
        bytes.writeDoubleLE(double)
        return bytes
          .toString('hex')
          .toUpperCase()
          .replace(/(00)+$/, '')
      })
      assert.deepEqual(bits.split('\n'), expected)
    })

    test('the number of a tag is what the documentation says it is', async () => {
      await historian.write(writeBatch([{ tag: 'demo/T101.LEVEL', points: points([1, 42]) }], true), context)
      const found = await server.sql(
        "SELECT value FROM tidemark.points WHERE tag = reinterpretAsUInt64(substring(SHA256('demo/T101.LEVEL'), 1, 8))",
      )
      assert.equal(found, '42')
    })
  })
}
