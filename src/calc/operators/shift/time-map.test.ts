import assert from 'node:assert/strict'
import { test } from 'node:test'
import { END_INSTANT, US_PER_DAY, US_PER_HOUR, US_PER_MS } from '../../../time/instant.ts'
import { parseOffset } from '../../../time/offset.ts'
import { UTC } from '../../../time/zone.ts'
import { TimeMap } from './time-map.ts'

test('the end of the accepted range leads to where it would, as a grid up to it asks', async () => {
  const cases: [offset: string, before: number, end: number][] = [
    ['-1h', -US_PER_HOUR - 1, -US_PER_HOUR],
    ['1h', Number.NaN, Number.NaN],
    ['-1mo', -31 * US_PER_DAY - 1, -31 * US_PER_DAY],
    ['2 hours ago', -2 * US_PER_HOUR - 1, -2 * US_PER_HOUR],
    ['begin of hour', -US_PER_HOUR, Number.NaN],
    ['last moment of yesterday', -US_PER_DAY - US_PER_MS, -US_PER_MS],
  ]
  for (const [text, before, end] of cases) {
    const map = new TimeMap(parseOffset(text)!, text, UTC)
    const times = Float64Array.of(END_INSTANT - 1, END_INSTANT, END_INSTANT)
    let pauses = 0
    const targets = await map.targetsOf(times, async () => {
      assert.ok(++pauses < 3, `${text} goes on without end`)
    })
    assert.deepEqual([...targets.map((target) => target - END_INSTANT)], [before, end, end], text)
  }
})
