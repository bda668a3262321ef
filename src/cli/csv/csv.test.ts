import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatNumber, parseNumber } from './number.ts'
import { type CsvRow, findSeparator, readCsv } from './read.ts'
import { parseTimeFormat } from './time-format.ts'
import { csvLine } from './write.ts'

async function rowsOf(chunks: readonly Uint8Array[], separator: string | null = null): Promise<CsvRow[]> {
  const rows: CsvRow[] = []
  const source = (async function* () {
    yield* chunks
  })()
  for await (const row of readCsv(source, { separator, encoding: 'utf-8' })) rows.push(row)
  return rows
}

describe('CSV', () => {
  it('reads back every row that it writes, however its bytes arrive', async () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 8 })
    const tables = fc
      .integer({ min: 1, max: 4 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 6 }),
      )
    await fc.assert(
      fc.asyncProperty(
        tables,
        fc.constantFrom(',', ';', '\t'),
        fc.integer({ min: 1, max: 7 }),
        async (table, separator, size) => {
          // A line without a character is no row.
          const filled = table.map((row) => row.with(0, `${row[0]}x`))
          const bytes = Buffer.from(filled.map((row) => csvLine(row, separator)).join(''))
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          )
          const rows = await rowsOf(chunks, separator)
          assert.deepEqual(
            rows.map(({ cells }) => cells),
            filled,
          )
        },
      ),
      { numRuns: 100 },
    )
  })

  it('takes a byte order mark away, knows each line end, and counts lines', async () => {
    const rows = await rowsOf([Buffer.from('\ufeffa;b\r\n1;"x\ny"\r\n\r\n3;4')])
    assert.deepEqual(rows, [
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['1', 'x\ny'] },
      { line: 5, cells: ['3', '4'] },
    ])
  })

  it('finds the separator of a header', () => {
    assert.equal(findSeparator('a;b;c,d'), ';')
    assert.equal(findSeparator('"a;b;c;d",e'), ',')
    assert.equal(findSeparator('a\tb'), '\t')
    assert.equal(findSeparator('alone'), ',')
  })
})

describe('numbers of cells', () => {
  const cases: readonly [string, number | null, number | null][] = [
    ['1', 1, 1],
    [' -1.5e3 ', -1500, null],
    ['1,5', null, 1.5],
    ['.5', 0.5, null],
    [',5', null, 0.5],
    ['TRUE', 1, 1],
    ['false', 0, 0],
    ['1e999', null, null],
    ['0x10', null, null],
    ['NaN', null, null],
    ['Infinity', null, null],
    ['1.234,5', null, null],
    ['1 000', null, null],
    ['--1', null, null],
    ['e5', null, null],
    ['', null, null],
  ]
  for (const [cell, point, comma] of cases) {
    it(JSON.stringify(cell), () => {
      assert.equal(parseNumber(cell, false), point)
      assert.equal(parseNumber(cell, true), comma)
    })
  }

  it('every number that is written reads back as the same', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), (value, comma) => {
        assert.equal(parseNumber(formatNumber(value, comma), comma), value === 0 ? 0 : value)
      }),
    )
  })
})

describe('time formats', () => {
  const cases: readonly [string, string, string | null][] = [
    ['dd.MM.yyyy HH:mm:ss', '08.02.2020 13:30:47', '2020-02-08T13:30:47'],
    ['d/M/yy H:mm', '8/12/99 7:05', '1999-12-08T07:05:00'],
    ['yyyyMMddHHmmss.SSS', '20200208133047.123456', '2020-02-08T13:30:47.123456'],
    ['MM/dd/yyyy hh:mm a', '12/31/2025 12:05 am', '2025-12-31T00:05:00'],
    ['MM/dd/yyyy hh:mm a', '12/31/2025 01:05 p.m.', '2025-12-31T13:05:00'],
    ['dd.MM.yyyy', '08x02x2020', null],
    ['dd.MM.yyyy', '08.02.2020 10:00', null],
  ]
  for (const [pattern, cell, expected] of cases) {
    it(`${pattern} of ${cell}`, () => assert.equal(parseTimeFormat(pattern)(cell), expected))
  }

  it('need a date, each field once', () => {
    for (const pattern of ['HH:mm', 'dd.MM', 'dd.dd.MM.yyyy', 'hh dd.MM.yyyy', '']) {
      assert.throws(() => parseTimeFormat(pattern), /--time-format/)
    }
  })
})
