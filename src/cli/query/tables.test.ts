import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printTable } from '../output.ts'
import { type TableOptions, tableOf } from './tables.ts'

type Results = Parameters<typeof tableOf>[1]

function printed(
  results: Results,
  options: TableOptions,
  output: Parameters<typeof printTable>[1] = {},
): string {
  let text = ''
  const terminal = { out: { write: (piece: string) => (text += piece) } } as unknown as Parameters<
    typeof printTable
  >[2]
  printTable(tableOf(Object.keys(results), results, options), output, terminal)
  return text
}

const point = (timestamp: string, value: number | null, status = 'OK') => ({ timestamp, value, status })
const AT = ['2026-01-15T10:00:00.000+01:00', '2026-01-15T11:00:00.000+01:00'] as const
const SAME = {
  a: { dataPoints: [point(AT[0], 1.5), point(AT[1], null, 'BAD')] },
  b: { dataPoints: [point(AT[0], 1000.25), point(AT[1], 99, 'BAD')] },
}
const window = (from: string, to: string, values: object) => ({ from, to, ...values })
const WINDOWS = {
  a: {
    aggregates: [
      window(AT[0], AT[1], { min: 1, avg: 2, total: null }),
      window(AT[1], AT[0], { min: 3, avg: 4, total: 5 }),
    ],
  },
  b: {
    aggregates: [
      window(AT[0], AT[1], { min: 6, avg: 7, total: 8 }),
      window(AT[1], AT[0], { min: 9, avg: 10, total: 11 }),
    ],
  },
}

test('points at the same times stand side by side', () => {
  assert.equal(
    printed(SAME, {}),
    [
      'time                             a        b',
      '2026-01-15T10:00:00.000+01:00  1.5  1000.25',
      '2026-01-15T11:00:00.000+01:00    -   99 BAD',
      '',
    ].join('\n'),
  )
})

test('CSV of points is what import reads', () => {
  assert.equal(
    printed(SAME, { long: true }, { csv: true }),
    `tag,time,value,status\na,${AT[0]},1.5,OK\na,${AT[1]},,BAD\nb,${AT[0]},1000.25,OK\nb,${AT[1]},99,BAD\n`,
  )
})

test('a file for a German Excel: semicolons, decimal commas, local times', () => {
  const output = { csv: true, decimalComma: true, timeFormat: 'dd.MM.yyyy HH:mm:ss' }
  assert.equal(
    printed(SAME, { wide: true }, output),
    'time;a;b\n15.01.2026 10:00:00;1,5;1000,25\n15.01.2026 11:00:00;;\n',
  )
})

test('wide joins other times by time', () => {
  const results = { a: { dataPoints: [point(AT[1], 1)] }, b: { dataPoints: [point(AT[0], 2)] } }
  assert.equal(
    printed(results, { wide: true }),
    `time                           a  b\n${AT[0]}     2\n${AT[1]}  1\n`,
  )
})

test('aggregates are those asked for, in that order, side by side for several tags', () => {
  assert.equal(
    printed(WINDOWS, { aggregates: ['TOTAL', 'min'] }, { csv: true }),
    [
      'from,to,a total,a min,b total,b min',
      `${AT[0]},${AT[1]},,1,8,6`,
      `${AT[1]},${AT[0]},5,3,11,9`,
      '',
    ].join('\n'),
  )
  const { a } = WINDOWS
  assert.equal(
    printed({ a }, { aggregates: ['avg'] }, { csv: true }),
    `tag,from,to,avg\na,${AT[0]},${AT[1]},2\na,${AT[1]},${AT[0]},4\n`,
  )
})

test('a cut window is said to be, and a time among the aggregates is a time', () => {
  const results = { a: { aggregates: [window(AT[0], AT[1], { maxTime: AT[0], partial: true })] } }
  assert.equal(
    printed(results, {}, { csv: true, timeFormat: 'd.M.yy h a' }),
    'tag,from,to,window,maxTime\na,15.1.26 10 AM,15.1.26 11 AM,partial,15.1.26 10 AM\n',
  )
})

test('times of states are shown for states that occurred', () => {
  const states = {
    Closed: { seconds: 1200, visits: 2 },
    Faulty: { seconds: 0, visits: 0 },
    Open: { seconds: 0.5, visits: 1 },
  }
  const results = {
    a: { aggregates: [window(AT[0], AT[1], { min: null, states }), window(AT[1], AT[0], { states: null })] },
  }
  assert.equal(
    printed(results, { aggregates: ['STATES'] }, { csv: true }),
    `tag,from,to,states\na,${AT[0]},${AT[1]},"Closed 1200 s, 2 visits; Open 0.5 s, 1 visit"\na,${AT[1]},${AT[0]},\n`,
  )
})
