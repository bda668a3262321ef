import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Historian } from '../../../src/historian/contract.ts'
import { parseTagPattern } from '../../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { assertPoints, EVER, points } from '../../contract/points.ts'
import { HOSTILE_NAMES } from '../../contract/tag-promises.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { context, openInflux } from './subject.ts'

/** What breaks out of quotes, lines and templates, where it is not held. */
const PIECES = [
  ...[
    "'",
    '"',
    '\\',
    "\\'",
    '\\"',
    ';',
    ',',
    '=',
    ' ',
    '\\,',
    '\\=',
    '\\ ',
    '/',
    '.',
    '$',
    '{',
    '}',
    '--',
    '/*',
  ],
  ...[
    'a',
    'é',
    '\u{1F525}',
    '%',
    '*',
    '?',
    '`',
    '#',
    '@',
    '(',
    ')',
    '[',
    ']',
    '|',
    '&',
    '<',
    '>',
    ':',
    '~',
    '+',
  ],
  ...["' OR 1=1", '"; DROP DATABASE x', 'value=1', '\u2028', '\u200b', 'time', 'tag', '\ufeff'],
]

describe('injection', { skip: foundInflux.skip }, () => {
  let server: InfluxServer
  before(async () => {
    server = await InfluxServer.start(['tags', 'fields', 'parts'])
  })
  after(() => server.stop())

  const read = async (historian: Historian, tag: string) => {
    const query = { tag, ...EVER, order: 'asc', limit: 10 } as const
    const [found] = await historian.readRanges([query], context)
    return found!.points
  }

  /** Everything that a name goes through; what it changes is that name's only. */
  async function roundTrip(historian: Historian, names: readonly string[]): Promise<void> {
    const entries = names.map((tag, index) => ({ tag, points: points([index, index + 0.5]) }))
    await historian.write(writeBatch(entries, true), context)
    const about = (name: string) => ({ description: `${name}\n'${name}"\\`, units: name, stepped: true })
    const put = names.map((name) => ({ name, metadata: about(name) }))
    await historian.putTags(put, 'update', context)
    assert.deepEqual(await historian.findTags(names, context), names.map(about))
    for (const [index, name] of names.entries()) {
      assertPoints(await read(historian, name), points([index, index + 0.5]), name)
      const pattern = parseTagPattern(name)
      const found = await historian.searchTags({ pattern, after: null, limit: 1_000 }, context)
      assert.ok(
        found.tags.some((tag) => tag.name === name),
        name,
      )
    }
    if (!historian.capabilities.deleteTags) return
    const [first = '', ...others] = names
    const counts = await historian.deletePoints!([{ tag: first, ...EVER }], false, context)
    assert.deepEqual(counts, [1], first)
    assert.deepEqual(await historian.deleteTags!([first], false, context), [0])
    assert.equal((await historian.findTags([first], context))[0], null)
    assert.deepEqual(await historian.findTags(others, context), others.map(about))
    for (const [index, name] of others.entries()) {
      assertPoints(await read(historian, name), points([index + 1, index + 1.5]), name)
    }
    await historian.deleteTags!(others, false, context)
  }

  const names = (least: number) =>
    fc.uniqueArray(
      fc
        .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
        .map((chunks) => chunks.join(''))
        .filter((name) => !name.endsWith('\\')),
      { minLength: least, maxLength: 5 },
    )

  test('names of any text are tags of their own', async () => {
    const { historian } = await openInflux(server, 'tags')
    await roundTrip(historian, HOSTILE_NAMES)
    await fc.assert(
      fc.asyncProperty(names(2), (some) => roundTrip(historian, some)),
      { numRuns: 25 },
    )
    assert.deepEqual(
      (await server.query('SHOW DATABASES')).results[0].series[0].values,
      [['_internal'], ['tags'], ['fields'], ['parts']].filter(([name]) => name !== '_internal'),
    )
    await historian.close()
  })

  test('names that become measurements, tag values and fields are held, too', async () => {
    const { historian } = await openInflux(server, 'parts', { tagName: '{measurement}::{device}::{field}' })
    const text = fc
      .array(fc.constantFrom(...PIECES.filter((chunk) => !chunk.includes(':'))), {
        minLength: 1,
        maxLength: 4,
      })
      .map((chunks) => chunks.join(''))
      // A field's name may not be that of the status, and time is InfluxDB's own.
      .filter((text) => !text.endsWith('\\') && text !== 'time' && text !== 'status')
    const measurement = text.filter((name) => !/^#|\\[,"= ]/.test(name))
    const key = text.filter((name) => !/\\[,"= ]/.test(name))
    await fc.assert(
      fc.asyncProperty(fc.tuple(measurement, text, key), async (parts) => {
        await roundTrip(historian, [parts.join('::')])
      }),
      { numRuns: 40 },
    )
    await historian.close()
  })

  test('names that InfluxDB cannot hold are refused with a sentence, and are no tags', async () => {
    const { historian } = await openInflux(server, 'tags')
    for (const name of ['ends in \\', 'line\nfeed', 'line\rreturn', 'nul\0']) {
      const batch = writeBatch([{ tag: name, points: points([1, 1]) }], true)
      const refused = {
        code: 'HISTORIAN_REFUSED',
        message: /plant\/.* cannot be a tag of it: InfluxDB takes no/s,
      }
      await assert.rejects(historian.write(batch, context), refused)
      const metadata = { description: null, units: null, stepped: false }
      const entries = ['before', name, 'after'].map((tag) => ({ name: tag, metadata }))
      const [before, refusal, after] = await historian.putTags(entries, 'upsert', context)
      assert.throws(() => {
        throw refusal
      }, refused)
      assert.deepEqual([before, after], ['stored', 'stored'])
      assert.deepEqual(await historian.findTags(['before', name, 'after'], context), [
        metadata,
        null,
        metadata,
      ])
      await historian.deleteTags(['before', 'after'], false, context)
    }
    const { historian: parts } = await openInflux(server, 'parts', { tagName: '{measurement}/{device}' })
    await assert.rejects(
      parts.write(writeBatch([{ tag: 'no slash', points: points([1, 1]) }], true), context),
      { message: /cannot be a tag of it: its name is not made as tagName says/ },
    )
    await assert.rejects(
      parts.write(writeBatch([{ tag: 'tidemark_tags/x', points: points([1, 1]) }], true), context),
      { message: /tidemark_tags is where Tidemark keeps the metadata/ },
    )
    await parts.close()
    await historian.close()
  })
})
