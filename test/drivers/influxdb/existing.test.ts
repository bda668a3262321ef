import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Historian } from '../../../src/historian/contract.ts'
import { parseTagPattern } from '../../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { AggregateName } from '../../../src/series/aggregate-names.ts'
import { assertPoints, at, EVER, points, type Row, rows } from '../../contract/points.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { context, openInflux } from './subject.ts'

const DATABASE = 'telegraf'
/** Wide series of somebody else's: several fields of several types, a status as text, times in nanoseconds. */
const LINES = `
pumps,site=oslo,device=P-101 speed=10.5,starts=3i,running=true,mode="AUTO",quality="GOOD" 1000000000
pumps,site=oslo,device=P-101 speed=11.5,starts=4i,running=false,mode="MAN",quality="BAD" 2000000000
pumps,site=oslo,device=P-101 speed=12.5 3000000000
pumps,site=oslo,device=P-102 speed=20 1500000000
pumps,site=oslo,device=P-102,host=gateway speed=99 1500000000
pumps,site=bergen,device=P-101 speed=77 1000000000
tanks,site=oslo,device=T-1/a level=5 1000000000
tag_info,tag=pumps/P-101/speed desc="Feed \\"old\\"",unit="rpm",step=false 0
tag_info,tag=pumps/P-101/speed desc="Feed pump" 5
tag_info,tag=pumps/P-101/running step=true 0
tag_info,tag=pumps/NOWHERE/speed desc="no such pump" 0`.trim()

const LAYOUT = {
  writable: false,
  tagName: '{measurement}/{device}/{field}',
  tags: { site: 'oslo' },
  statusField: 'quality',
  good: ['GOOD', 'UNCERTAIN'],
  bad: 'BAD',
  metadata: { kind: 'none' },
}

describe('series that others wrote', { skip: foundInflux.skip }, () => {
  let server: InfluxServer
  const opened: Historian[] = []
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-influxdb-'))
  before(async () => {
    server = await InfluxServer.start([DATABASE, 'ns', 'types'])
    await server.write(DATABASE, LINES, 'n')
  })
  after(async () => {
    for (const historian of opened) await historian.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const open = async (settings: Readonly<Record<string, unknown>>, database = DATABASE) => {
    const { historian } = await openInflux(server, database, settings)
    opened.push(historian)
    return historian
  }
  const read = async (historian: Historian, tag: string, range: { from: number; to: number } = EVER) => {
    const query = { tag, from: at(range.from), to: at(range.to), order: 'asc', limit: 1_000 } as const
    const [found] = await historian.readRanges([query], context)
    assert.equal(found!.more, false)
    return found!.points
  }
  const search = async (historian: Historian, text: string) => {
    const query = { pattern: parseTagPattern(text), after: null, limit: 100 }
    return (await historian.searchTags(query, context)).tags
  }

  test('each field of each series with the configured tag keys is a tag', async () => {
    const historian = await open(LAYOUT)
    assert.deepEqual(
      (await search(historian, '*')).map(({ name }) => name),
      [
        ...['P-101', 'P-102'].flatMap((device) =>
          ['mode', 'running', 'speed', 'starts'].map((field) => `pumps/${device}/${field}`),
        ),
        // Cut at the first slash behind the device this name would be T-1 with a field a/level: it has no name.
      ],
    )
    const names = [
      'pumps/P-101/speed',
      'pumps/P-999/speed',
      'pumps/P-101/nothing',
      'pumps/P-101/quality',
      'x',
    ]
    const found = await historian.findTags([...names, 'pumps/P-102/starts'], context)
    assert.deepEqual(
      found.map((metadata) => metadata !== null),
      [true, false, false, false, false, true],
    )
    assert.equal(historian.capabilities.write, false)
    await assert.rejects(historian.write(writeBatch([{ tag: names[0]!, points: points() }], true), context), {
      code: 'NOT_SUPPORTED',
    })
  })

  test('a series with more tag keys, or another value of a fixed one, is another tag', async () => {
    const historian = await open(LAYOUT)
    assertPoints(await read(historian, 'pumps/P-102/speed'), points([1_500_000, 20]))
    const bergen = await open({ ...LAYOUT, tags: { site: 'bergen' } })
    assertPoints(await read(bergen, 'pumps/P-101/speed'), points([1_000_000, 77]))
    assertPoints(await read(bergen, 'pumps/P-102/speed'), points())
    assert.deepEqual(
      await historian.estimatePoints([{ tag: 'pumps/P-102/speed', ...EVER }], 99, context),
      [1],
    )
  })

  test('integers and truth values are numbers, texts are no points, and a point without status is good', async () => {
    const historian = await open(LAYOUT)
    const rowsOf = async (field: string) => rows(await read(historian, `pumps/P-101/${field}`))
    const expected: readonly (readonly [string, readonly Row[]])[] = [
      [
        'speed',
        [
          [1_000_000, 10.5, 0],
          [2_000_000, 11.5, 1],
          [3_000_000, 12.5, 0],
        ],
      ],
      [
        'starts',
        [
          [1_000_000, 3, 0],
          [2_000_000, 4, 1],
        ],
      ],
      [
        'running',
        [
          [1_000_000, 1, 0],
          [2_000_000, 0, 1],
        ],
      ],
      ['mode', []],
    ]
    for (const [field, found] of expected) assert.deepEqual(await rowsOf(field), found, field)
    const tag = 'pumps/P-101/speed'
    const [boundingValues] = await historian.readBoundingValues([tag], Float64Array.of(2_500_000), context)
    assert.deepEqual([boundingValues!.beforeTimes[0], boundingValues!.afterTimes[0]], [1_000_000, 3_000_000])
  })

  test('aggregates of any type of field equal those of its points', async () => {
    const historian = await open(LAYOUT)
    const aggregates: AggregateName[] = [
      'count',
      'numGood',
      'numBad',
      'sum',
      'avg',
      'first',
      'last',
      'max',
      'stdDev',
    ]
    const edges = Float64Array.of(0, 1_500_000, 4_000_000, 5_000_000)
    const ask = async (tag: string) => {
      const query = { tag, edges, aggregates, stepped: false, holdUntil: at(9e15) }
      const [found] = await historian.readAggregates!([query], context)
      return aggregates.map((name) => [...found![name]!])
    }
    const none = Number.NaN
    assert.deepEqual(await ask('pumps/P-101/speed'), [
      [1, 2, 0],
      [1, 1, 0],
      [0, 1, 0],
      [10.5, 12.5, none],
      [10.5, 12.5, none],
      [10.5, 12.5, none],
      [10.5, 12.5, none],
      [10.5, 12.5, none],
      [0, 0, none],
    ])
    assert.deepEqual((await ask('pumps/P-101/starts')).slice(0, 4), [
      [1, 1, 0],
      [1, 0, 0],
      [0, 1, 0],
      [3, none, none],
    ])
    assert.deepEqual((await ask('pumps/P-101/running')).slice(0, 4), [
      [1, 1, 0],
      [1, 0, 0],
      [0, 1, 0],
      [1, none, none],
    ])
    assert.deepEqual((await ask('pumps/P-101/mode')).slice(0, 4), [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
      [none, none, none],
    ])
  })

  test('metadata come from a measurement, the newest value of each field', async () => {
    const metadata = {
      kind: 'measurement',
      measurement: 'tag_info',
      description: 'desc',
      units: 'unit',
      stepped: 'step',
    }
    const historian = await open({ ...LAYOUT, metadata })
    const names = ['pumps/P-101/speed', 'pumps/P-101/running', 'pumps/P-102/speed', 'pumps/NOWHERE/speed']
    const expected = [
      { description: 'Feed pump', units: 'rpm', stepped: false },
      { description: null, units: null, stepped: true },
      { description: null, units: null, stepped: false },
      null,
    ]
    assert.deepEqual(await historian.findTags(names, context), expected)
    assert.deepEqual(
      (await search(historian, 'feed p*')).map(({ name }) => name),
      [names[0]],
    )
  })

  test('metadata come from a file, and from a changed one without a restart', async () => {
    const path = join(folder, 'tags.csv')
    const write = (units: string) =>
      writeFileSync(path, `tag,units,description,stepped\npumps/P-101/speed,${units},"Feed, ""old""",yes\n`)
    write('rpm')
    const historian = await open({ ...LAYOUT, metadata: { kind: 'file', path }, catalogSeconds: 0.001 })
    const found = async () => (await historian.findTags(['pumps/P-101/speed'], context))[0]
    assert.deepEqual(await found(), { description: 'Feed, "old"', units: 'rpm', stepped: true })
    write('1/min!')
    assert.equal((await found())!.units, '1/min!')
    assert.deepEqual((await search(historian, 'feed*'))[0]!.metadata.units, '1/min!')
    rmSync(path)
    await assert.rejects(found(), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: /: the file with its metadata is not there$/,
    })
  })

  test('nanoseconds are cut to microseconds, and of points in one the last counts', async () => {
    const lines = [-2_001, -2_000, -1_999, -1_000, -999, -1, 0, 999, 1_000, 1_001, 1_999, 2_500]
    await server.write(
      'ns',
      lines.map((ns, index) => `tidemark,tag=a value=${index},status=0i ${ns}`).join('\n'),
      'n',
    )
    const historian = await open({}, 'ns')
    // Towards 1970: -2.001 is shown as -2, and -0.999 as 0.
    const all: Row[] = [
      [-2, 1, 0],
      [-1, 3, 0],
      [0, 7, 0],
      [1, 10, 0],
      [2, 11, 0],
    ]
    assert.deepEqual(rows(await read(historian, 'a')), all)
    for (let from = -3; from <= 3; from++) {
      for (let to = from; to <= 4; to++) {
        const inside = all.filter(([time]) => time >= from && time < to)
        assert.deepEqual(rows(await read(historian, 'a', { from, to })), inside, `${from} .. ${to}`)
        for (const limit of [1, 2, 3]) {
          for (const order of ['asc', 'desc'] as const) {
            const query = { tag: 'a', from: at(from), to: at(to), order, limit }
            const [page] = await historian.readRanges([query], context)
            const wanted = order === 'asc' ? inside : inside.toReversed()
            assert.deepEqual(
              rows(page!.points),
              wanted.slice(0, limit),
              `${order} ${limit} of ${from} .. ${to}`,
            )
            assert.equal(page!.more, inside.length > limit)
          }
        }
      }
    }
    for (const [time, value] of all) {
      for (const find of ['before-or-at', 'after-or-at'] as const) {
        const found = await historian.readPoints([{ tag: 'a', find, at: at(time) }], context)
        assert.deepEqual(rows(found), [[time, value, 0]], find)
      }
    }
  })

  test('a thousand points in one microsecond are one point, in pages of any size', async () => {
    const lines = Array.from(
      { length: 1_000 },
      (_, ns) => `tidemark,tag=b value=${ns},status=0i ${5_000 + ns}`,
    )
    await server.write('ns', [...lines, 'tidemark,tag=b value=1,status=0i 6000'].join('\n'), 'n')
    const historian = await open({}, 'ns')
    for (const order of ['asc', 'desc'] as const) {
      for (const limit of [1, 2, 9]) {
        const [page] = await historian.readRanges([{ tag: 'b', ...EVER, order, limit }], context)
        const both: Row[] = [
          [5, 999, 0],
          [6, 1, 0],
        ]
        assert.deepEqual(rows(page!.points), (order === 'asc' ? both : both.reverse()).slice(0, limit))
        assert.equal(page!.more, limit === 1)
      }
    }
  })

  test('values that InfluxDB cannot add up, or not as numbers of JSON, are aggregated here', async () => {
    await server.write(
      'types',
      'tidemark,tag=huge value=1.7e308,status=0i 1\ntidemark,tag=huge value=1.7e308,status=0i 2',
    )
    const historian = await open({}, 'types')
    const query = { tag: 'huge', edges: Float64Array.of(0, 10), stepped: false, holdUntil: at(0) }
    const [found] = await historian.readAggregates!(
      [{ ...query, aggregates: ['avg', 'sum', 'count'] }],
      context,
    )
    assert.deepEqual([found!.avg![0], found!.sum![0], found!.count![0]], [1.7e308, Number.NaN, 2])
  })
})
