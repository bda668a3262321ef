import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { assertWithinLoad, LOAD_MARGIN } from '../../src/calc/graph/load-margin.fixture.ts'
import { assertFetched, fillAll, loadOf, tagOf } from './fetched-load.ts'
import { ALL_WRAPS, addressOver, labelsOver, requestOver } from './nested-labels.ts'

before(fillAll)

/**
 * Points beside ranges and windows that are estimated, and not always there or read, of a calculation of some inputs.
 */
const SPARE_POINTS = 300

/** Of so many calculations the estimate of a few is larger still: most of them over a range behind all points. */
const RUNS = 500
const FEW_OF_RUNS = 2

/**
 * All functions but TIMESHIFT to a relative time: the instants that it leads to may all be the starts of windows, where
 * a total is 0 and nothing is fetched, which no estimate knows.
 */
const KNOWN = ALL_WRAPS.filter((wrap) => !wrap('x', 'y').includes('begin of'))

test('the margin is the one that the documentation states', async () => {
  const text = await readFile(new URL('../../docs/multi.md', import.meta.url), 'utf8')
  assert.ok(
    text.replaceAll('\n', ' ').includes(`no more than its load and ${LOAD_MARGIN} points for each label`),
  )
})

describe('nested calculations', () => {
  test('fetch no more than the load that explain tells, and a few points for each label', async () => {
    const address = addressOver(tagOf('FINE', 'ROUGH', 'STEPS', 'EMPTY'), ALL_WRAPS, { least: 0, most: 6 })
    let ended = 0
    await fc.assert(
      fc.asyncProperty(labelsOver(requestOver(address)), async (labels) => {
        const found = await loadOf(Object.fromEntries(labels), 10)
        const requests = labels.map(([, request]) => request)
        if (found === null) ended++
        else assertFetched(found, requests)
      }),
      { numRuns: 300 },
    )
    assert.ok(ended < 30, `${ended} calls ended by a limit`)
  })

  test('over dense tags are estimated at three times what they fetch at most, but for a few', async () => {
    const address = addressOver(tagOf('DENSE', 'HELD'), KNOWN, { least: 0, most: 4 })
    const above: string[] = []
    await fc.assert(
      fc.asyncProperty(requestOver(address), async (request) => {
        const found = await loadOf({ a: request })
        assert.ok(found !== null, 'no limit ends it')
        const { load, fetched } = found
        if (load > 3 * fetched + SPARE_POINTS) above.push(`${request.tag}: load ${load}, ${fetched} fetched`)
      }),
      { numRuns: RUNS },
    )
    assert.ok(above.length <= FEW_OF_RUNS, above.join('\n'))
  })

  test('are estimated at three times what they fetch where ranges overlap or lie beyond all points', async () => {
    const at = (time: string) => `2026-01-15T${time}:00Z`
    const over = (from: string, to: string) => ({ from: at(from), to: at(to) })
    const sides = { leftBoundary: 'NEAREST', rightBoundary: 'NEAREST', order: 'desc' }
    const inner = { leftBoundary: 'INTERPOLATED', rightBoundary: 'INTERPOLATED', order: 'asc' }
    const newest = { leftBoundary: 'NEAREST', rightBoundary: 'INCLUDE', order: 'desc', maxPoints: 1 }
    const page = { ...newest, order: 'asc' }
    const first = { leftBoundary: 'INCLUDE', rightBoundary: 'EXCLUDE', order: 'asc', maxPoints: 1 }
    const all = 'ADD(plant/DENSE, plant/HELD, server/DENSE, server/HELD)'
    const twice = 'WINDOWAGG(plant/HELD, AVG, 1h)'
    const daily = 'TOTALISERAW(plant/DENSE, DAY, BEGIN_DAY, 1d)'
    const ofEqual = (x: string, y: string) => `IFEQUALS(${x}, ${y}, 1, ${x}, 0.5)`
    for (const [type, tag, details] of [
      [
        'RAW_POINTS',
        'WINDOWAGG(NEG(WINDOWAGG(plant/DENSE, AVG, 1h)), SUM, 30m, 00:10)',
        { ...over('11:05', '20:02'), ...sides, maxPoints: 3 },
      ],
      [
        'RAW_POINTS',
        'WINDOWAGG(TIMESHIFT(plant/DENSE, 1d), AVG, 1h)',
        { ...over('10:47', '17:12'), ...sides, maxPoints: 20 },
      ],
      [
        'RAW_POINTS',
        'STEPPEDRAW(SUB(SLIDINGAGG(WINDOWAGG(plant/DENSE, MAX, 30m), MAX, 45m), POINTINTIME(plant/DENSE, -2h)))',
        { ...over('02:28', '06:54'), ...inner, maxPoints: 19 },
      ],
      [
        'POINT_BEFORE_OR_AT',
        'WINDOWAGG(LOWPASS(NEG(WINDOWAGG(plant/HELD, TOTAL, 1h, 1min)), 600), TOTAL, 1h, 1min)',
        { at: at('12:50') },
      ],
      [
        'RAW_POINTS',
        'NOBAD(TOTALISE(WINDOWAGG(plant/HELD, SUM, 30m, 00:10), 1h, BEGIN_DAY, 1h))',
        { ...over('04:39', '14:32'), ...sides, maxPoints: 18 },
      ],
      [
        'MULTIPLE_AGGREGATED_POINTS',
        'NOBAD(MROUND(PERCENTDEV(WINDOWAGG(server/HELD, TOTAL, 1h, 1min), server/HELD), 0.5))',
        { ...over('08:44', '18:25'), aggregates: ['MAX', 'FIRST', 'STDDEV'], count: 11 },
      ],
      [
        'ADJACENT_POINTS',
        'HIGHPASS(ROUNDUP(WINDOWAGG(server/HELD, TOTAL, 1h, 1min), 0), 900)',
        { at: at('05:11') },
      ],
      [
        'CURRENT_POINT',
        'TIMESHIFT(ROUNDDOWN(SLIDINGAGG(IFEQUALS(server/DENSE, server/HELD, 1, server/DENSE, 0.5), COUNT, 2h), 1), 1d)',
        {},
      ],
      [
        'AGGREGATED_POINTS',
        'SLIDINGAGG(TIMESHIFT(WINDOWAGG(ROUNDDOWN(server/HELD, 1), TOTAL, 1h, 1min), 1d), AVG, 1h)',
        over('03:16', '12:23'),
      ],
      ['AGGREGATED_POINTS', `LOWPASS(SUB(${twice}, server/HELD, ${twice}), 600)`, over('03:29', '04:20')],
      [
        'ADJACENT_POINTS',
        'ROUND(TOTALISERAW(TIMESHIFT(plant/DENSE, 1d), DAY, BEGIN_DAY, 1d), 1)',
        { at: at('10:10') },
      ],
      [
        'RAW_POINTS',
        'NEG(STEPPED(TOTALISERAW(TOTALISE(plant/HELD, 1h, BEGIN_DAY, 1h), DAY, BEGIN_DAY, 1d)))',
        { ...over('05:47', '15:40'), order: 'asc', maxPoints: 1 },
      ],
      ['ADJACENT_POINTS', 'MUL(WINDOWAGG(plant/HELD, AVG, 1h), server/HELD)', { at: at('10:00') }],
      [
        'POINT_BEFORE',
        'ADD(SLIDINGAGG(WINDOWAGG(TIMESHIFT(plant/DENSE, 1d), TOTAL, 1h, 1min), AVG, 1h), plant/DENSE)',
        { at: at('05:02') },
      ],
      [
        'RAW_POINTS',
        'TIMESHIFT(ADD(TOTALISERAW(plant/DENSE, DAY, BEGIN_DAY, 1d), plant/DENSE), 1d)',
        { ...over('00:01', '00:02'), leftBoundary: 'NEAREST', rightBoundary: 'INCLUDE', maxPoints: 1 },
      ],
      ['CURRENT_POINT', 'NOBAD(TOTALISE(WINDOWAGG(plant/DENSE, TOTAL, 1h, 1min), 1h, BEGIN_DAY, 1h))', {}],
      ['RAW_POINTS', 'HIGHPASS(plant/DENSE, 900)', { ...over('07:15', '16:40'), ...inner, maxPoints: 17 }],
      // A page moves within one window of the total.
      ['RAW_POINTS', `ADD(TIMESHIFT(${daily}, 1d), plant/DENSE)`, { ...over('00:01', '00:03'), ...newest }],
      // A page ends long before its range does, and a range begins with a window.
      ['RAW_POINTS', ofEqual(daily, 'plant/DENSE'), { ...over('00:00', '04:16'), ...first }],
      ['AGGREGATED_POINTS', `TIMESHIFT(${ofEqual(daily, 'plant/DENSE')}, 1d)`, over('00:00', '00:01')],
      // Nothing is asked beside raw points.
      [
        'RAW_POINTS',
        `LOWPASS(${ofEqual('plant/DENSE', 'plant/HELD')}, 600)`,
        { ...over('00:00', '00:01'), ...page },
      ],
      [
        'AGGREGATED_POINTS',
        `STEPPED(${ofEqual('VARIANCE(plant/DENSE, plant/HELD, 4)', 'plant/DENSE')})`,
        { ...over('00:00', '00:01'), aggregates: ['COUNT'] },
      ],
      // NOBAD takes no more of what is never BAD.
      [
        'RAW_POINTS',
        `NOBAD(LOWPASS(HIGHPASS(${all}, 900), 600))`,
        { ...over('01:17', '11:16'), maxPoints: 4 },
      ],
      ['AGGREGATED_POINTS', `NOBAD(ROUND(WINDOWAGG(${all}, AVG, 1h), 1))`, over('05:39', '05:48')],
      // Where points of a filter stand is known without their values.
      [
        'INTERPOLATED_POINTS',
        'EPOCH_MS(LOWPASS(LOWPASS(plant/DENSE, 600), 600))',
        { ...over('04:28', '13:29'), count: 8 },
      ],
      // Points of windows, and of totals over them, are good wherever they are moved to.
      [
        'INTERPOLATED_POINTS',
        'STEPPEDRAW(TIMESHIFT(WINDOWAGG(plant/HELD, AVG, 1h), 1d))',
        { ...over('03:31', '05:13'), count: 13 },
      ],
      [
        'AGGREGATED_POINTS',
        'STEPPED(NEG(TOTALISERAW(WINDOWAGG(TIMESHIFT(plant/DENSE, 1d), AVG, 1h), DAY, BEGIN_DAY, 1d)))',
        { ...over('07:13', '07:47'), aggregates: ['TIMEAVG'] },
      ],
    ] as const) {
      const found = await loadOf({ a: { type, tag: `calc/${tag}`, details } })
      assert.ok(found !== null, `no limit ends ${type} of ${tag}`)
      const { load, fetched } = found
      const loads = `${type} of ${tag}: load ${load}, ${fetched} fetched`
      assert.ok(load <= 3 * fetched + SPARE_POINTS, loads)
      assertWithinLoad(fetched, load, loads)
    }
  })

  test('fetch no more than estimated, and the margin, where an instant of each hour has no value any more', async () => {
    const shifted = (x: string) => `TIMESHIFT(${x}, begin of this hour)`
    const range = { from: '2026-01-15T05:32:00Z', to: '2026-01-15T06:06:00Z', aggregates: ['COUNT', 'FIRST'] }
    for (const [type, tag, details] of [
      [
        'CURRENT_POINT',
        `LOWPASS(${shifted('LOWPASS(SIGN(ROUNDDOWN(ADD(server/STEPS, plant/FINE), 1)), 600)')}, 600)`,
        {},
      ],
      [
        'CURRENT_POINT',
        `STEPPED(VARIANCE(LOWPASS(MAX(${shifted('plant/EMPTY')}, plant/ROUGH), 600), server/ROUGH, 4))`,
        {},
      ],
      [
        'AGGREGATED_POINTS',
        `HIGHPASS(IFEQUALS(TIMESHIFT(${shifted('plant/ROUGH')}, 1d), server/STEPS, 1, 0, 0.5), 900)`,
        range,
      ],
    ] as const) {
      const request = { type, tag: `calc/${tag}`, details }
      const found = await loadOf({ a: request })
      assert.ok(found !== null, 'no limit ends it')
      assertFetched(found, [request])
    }
  })

  test('fetch no more than estimated where windows, shifts and pages once led to points that were not', async () => {
    const afterTheLast = { from: '2026-01-15T16:00:00Z', to: '2026-01-15T20:00:00Z' }
    const page = { from: '2026-01-15T07:06:00Z', to: '2026-01-15T17:03:00Z', order: 'desc' }
    const grid = { from: '2026-01-15T08:35:00Z', to: '2026-01-15T14:26:00Z', interval: '1h' }
    const longer = { from: '2026-01-14T23:04:00Z', to: '2026-01-15T08:30:00Z' }
    const both = { leftBoundary: 'INTERPOLATED', rightBoundary: 'INTERPOLATED' }
    const early = { from: '2026-01-14T23:14:00Z', to: '2026-01-15T02:39:00Z', maxPoints: 16, ...both }
    const late = { from: '2026-01-15T09:05:00Z', to: '2026-01-15T13:56:00Z', maxPoints: 13, ...both }
    const gap = { from: '2026-01-14T10:20:00Z', to: '2026-01-15T19:00:00Z', maxPoints: 3 }
    const toTen = { from: '2026-01-15T03:01:00Z', to: '2026-01-15T10:00:00Z' }
    const hour = { from: '2026-01-15T00:57:00Z', to: '2026-01-15T01:05:00Z', interval: '1h' }
    const at = { at: '2026-01-15T11:36:00Z' }
    const aggregates = ['COUNT']
    const ended = 'TIMESHIFT(server/DENSE, 1d)'
    const moving = 'SLIDINGAGG(TOTALISERAW(plant/DENSE, DAY, BEGIN_DAY, 1d), MAX, 45m)'
    const afternoon = {
      from: '2026-01-15T11:19:00Z',
      to: '2026-01-15T11:41:00Z',
      maxPoints: 17,
      order: 'desc',
    }
    for (const [type, tag, details] of [
      ['AGGREGATED_POINTS', 'TIMESHIFT(SLIDINGAGG(server/DENSE, AVG, 1h), 1d)', longer],
      ['AGGREGATED_POINTS', 'SLIDINGAGG(TIMESHIFT(plant/DENSE, 1d), AVG, 1h)', afterTheLast],
      ['AGGREGATED_POINTS', 'SLIDINGAGG(plant/HELD, MAX, 45m)', afterTheLast],
      ['RAW_POINTS', 'TOTALISE(plant/DENSE, 1h, BEGIN_DAY, 1h)', { ...page, maxPoints: 16 }],
      ['RAW_POINTS', 'TOTALISERAW(server/FINE, DAY, BEGIN_DAY, 1d)', late],
      ['RAW_POINTS', 'TOTALISE(plant/STEPS, 1min, BEGIN_DAY, 1h)', { ...page, order: 'asc', maxPoints: 16 }],
      ['RAW_POINTS', 'TOTALISE(ADD(plant/STEPS, 1), 1min, BEGIN_DAY, 1h)', { ...page, maxPoints: 16 }],
      ['RAW_POINTS', 'ADD(TOTALISE(plant/HELD, 1h, BEGIN_DAY, 1h), server/EMPTY)', { ...page, maxPoints: 5 }],
      ['INTERPOLATED_POINTS', 'TIMESHIFT(EPOCH_MS(WINDOWAGG(plant/FINE, MAX, 30m)), -30m)', grid],
      ['INTERPOLATED_POINTS', 'EPOCH_MS(WINDOWAGG(plant/FINE, TOTAL, 1h, 1min))', grid],
      ['RAW_POINTS', 'WINDOWAGG(NEG(WINDOWAGG(server/FINE, SUM, 30m, 00:10)), MAX, 30m)', early],
      ['RAW_POINTS', 'TOTALISERAW(WINDOWAGG(server/STEPS, MAX, 30m), DAY, BEGIN_DAY, 1d)', afternoon],
      // Nothing is read before the start of a filter, though windows begin there; but for the BAD points of HIGHPASS.
      ['POINT_BEFORE', 'SLIDINGAGG(LOWPASS(plant/DENSE, 60), MAX, 6h)', { at: '2026-01-15T17:00:00Z' }],
      ['POINT_BEFORE', 'SLIDINGAGG(HIGHPASS(plant/DENSE, 60), MAX, 6h)', { at: '2026-01-15T17:00:00Z' }],
      // Pages of windows that begin behind empty ones.
      ['RAW_POINTS', 'WINDOWAGG(plant/DENSE, AVG, 1h)', { ...gap, order: 'desc' }],
      ['RAW_POINTS', 'WINDOWAGG(plant/DENSE, AVG, 1h)', { ...gap, order: 'asc' }],
      ['RAW_POINTS', 'WINDOWAGG(ADD(ABS(plant/DENSE), plant/HELD), AVG, 1h)', { ...gap, order: 'desc' }],
      [
        'POINT_AFTER_OR_AT',
        'TOTALISE(WINDOWAGG(LOWPASS(server/HELD, 600), SUM, 30m, 00:10), 1h, BEGIN_DAY, 1h)',
        { at: '2026-01-15T09:37:00Z' },
      ],
      [
        'INTERPOLATED_POINTS',
        'WINDOWAGG(plant/HELD, MAX, 30m)',
        { from: '2026-01-15T12:54:00Z', to: '2026-01-15T19:11:00Z', interval: '30m' },
      ],
      ['RAW_POINTS', 'WINDOWAGG(plant/DENSE, SUM, 30m, 00:10)', { ...gap, maxPoints: 7, order: 'desc' }],
      // The raw points beside what is read lie in windows with others beside them.
      ['INTERPOLATED_POINTS', 'SLIDINGAGG(WINDOWAGG(plant/DENSE, MAX, 30m), AVG, 1h)', hour],
      // A page begins before its end, with more of a filter or of another window before it.
      ['RAW_POINTS', 'LOWPASS(plant/DENSE, 1200)', { ...toTen, order: 'desc', maxPoints: 1 }],
      [
        'AGGREGATED_POINTS',
        `TOTALISE(TIMESHIFT(${moving}, 1d), 1h, BEGIN_DAY, 1h)`,
        { ...toTen, aggregates },
      ],
      // An input has no value any more, and none before a range.
      ['POINT_BEFORE', `NOBAD(SUB(${ended}, plant/DENSE))`, at],
      ['POINT_BEFORE', `NOBAD(IFEQUALS(${ended}, plant/DENSE, 1, 0, 0.5))`, at],
      ['RAW_POINTS', `NOBAD(SUB(${ended}, plant/DENSE))`, { ...toTen, maxPoints: 3 }],
    ] as const) {
      const found = await loadOf({ a: { type, tag: `calc/${tag}`, details } })
      assert.ok(found !== null, 'no limit ends it')
      assert.ok(
        found.fetched <= found.load,
        `${type} of ${tag}: load ${found.load}, ${found.fetched} fetched`,
      )
    }
  })

  test('fetch no more than estimated, and the margin, where an input has no value, or none any more', async () => {
    const morning = { from: '2026-01-15T05:00:00Z', to: '2026-01-15T05:30:00Z' }
    const afterAll = { from: '2026-01-15T12:55:00Z', to: '2026-01-15T12:56:00Z' }
    const later = { from: '2026-01-14T23:03:00Z', to: '2026-01-15T07:50:00Z' }
    for (const [type, tag, details] of [
      ['CURRENT_POINT', 'NOBAD(ADD(MUL(SLIDINGAGG(plant/EMPTY, AVG, 1h), plant/DENSE), 1))', {}],
      ['AGGREGATED_POINTS', 'LOWPASS(MUL(WINDOWAGG(server/EMPTY, MAX, 30m), plant/DENSE), 600)', morning],
      ['AGGREGATED_POINTS', 'NOBAD(SUB(plant/DENSE, POINTINTIME(server/EMPTY, -2h)))', morning],
      ['AGGREGATED_POINTS', 'HIGHPASS(THRESHOLD(server/EMPTY, 1, server/EMPTY, plant/DENSE), 900)', morning],
      [
        'AGGREGATED_POINTS',
        'LOWPASS(TIME_THRESHOLD(2026-01-15T07:00:00Z, TOTALISERAW(WINDOWAGG(server/STEPS, SUM, 30m), DAY, BEGIN_DAY, 1d), server/ROUGH), 600)',
        afterAll,
      ],
      [
        'AGGREGATED_POINTS',
        'THRESHOLD(ADD(TIMESHIFT(WINDOWAGG(plant/FINE, SUM, 30m), 1d), plant/EMPTY), 2, 1, 0)',
        later,
      ],
      ['POINT_AFTER', 'TOTALISERAW(WINDOWAGG(server/EMPTY, MAX, 30m), DAY, BEGIN_DAY, 1d)', { at: later.to }],
      ['AGGREGATED_POINTS', 'TOTALISERAW(TIMESHIFT(plant/DENSE, 1d), DAY, BEGIN_DAY, 1d)', afterAll],
    ] as const) {
      const request = { type, tag: `calc/${tag}`, details }
      const found = await loadOf({ a: request })
      assert.ok(found !== null, 'no limit ends it')
      assertFetched(found, [request])
    }
  })

  test('as filters of filters are estimated at two and a half times what they fetch at most', async () => {
    const range = { from: '2026-01-15T05:00:00Z', to: '2026-01-15T06:00:00Z' }
    const at = { at: range.from }
    for (const wrap of [(x: string) => `LOWPASS(${x}, 600)`, (x: string) => `HIGHPASS(${x}, 600)`]) {
      for (const depth of [1, 4, 8, 12]) {
        let tag = 'plant/DENSE'
        for (let i = 0; i < depth; i++) tag = wrap(tag)
        for (const [type, details] of [
          ['CURRENT_POINT', {}],
          ['HISTORICAL_POINT', at],
          ['POINT_BEFORE', at],
          ['INTERPOLATED_POINTS', { ...range, count: 10 }],
          ['RAW_POINTS', { ...range, maxPoints: 10 }],
          ['RAW_POINTS', { ...range, maxPoints: 10, order: 'desc' }],
          ['AGGREGATED_POINTS', range],
        ] as const) {
          const found = await loadOf({ a: { type, tag: `calc/${tag}`, details } })
          assert.ok(found !== null, 'no limit ends it')
          const { load, fetched } = found
          assert.ok(fetched <= load && load <= 2.5 * fetched, `${type}: load ${load}, ${fetched} fetched`)
        }
      }
    }
  })

  test('are estimated by the instants that a shift on the calendar leads to', async () => {
    const range = { from: '2026-01-15T23:02:00Z', to: '2026-01-16T02:02:00Z', interval: '30m' }
    const request = { type: 'INTERPOLATED_POINTS', details: range }
    for (const offset of ['1d', 'begin of this hour']) {
      const tag = `calc/TIMESHIFT(WINDOWAGG(plant/DENSE, MAX, 30m), ${offset})`
      assert.deepEqual(await loadOf({ a: { ...request, tag } }), { load: 0, fetched: 0 })
    }
  })
})
