import assert from 'node:assert/strict'
import type { Instant } from '../../src/time/instant.ts'
import { parseTime } from '../../src/time/parse.ts'
import { UTC } from '../../src/time/zone.ts'
import { type GoldenPoint, type GoldenRead, statesText, timeText } from './format.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
export type Json = any

/** Fails where an answer to a read is not what the golden file says. */
export function assertAnswer(read: GoldenRead, answer: Json): void {
  const { expected } = read
  if (expected.kind === 'fails') {
    assert.equal(answer.errors.a, expected.sentence)
    return
  }
  assert.deepEqual(answer.errors, {})
  const result = answer.results.a
  switch (expected.kind) {
    case 'points': {
      const points: Json[] = result.dataPoints ?? [result.dataPoint]
      assertPoints(points, expected.points, read.within)
      if (read.type === 'RAW_POINTS')
        assert.equal(answer.next?.a !== undefined, expected.truncated, 'truncated')
      break
    }
    case 'adjacent':
      for (const [side, point] of expected.points) {
        if (point === null) assert.equal(result[side], null, side)
        else assertPoint(result[side], point, read.within)
      }
      break
    case 'intervals': {
      const found = result.intervals.map(({ from, to, openStart, openEnd, kind = '' }: Json) => {
        const words = [...(openStart ? ['open start'] : []), ...(openEnd ? ['open end'] : []), kind]
        return `${timeText(instantOf(from))} .. ${timeText(instantOf(to))}  ${words.join(' ').trim()}`
      })
      const wanted = expected.intervals.map(
        ({ from, to, words }) => `${timeText(from)} .. ${timeText(to)}  ${words}`,
      )
      assert.deepEqual(found, wanted)
      break
    }
    case 'aggregates': {
      const windows: Json[] = result.aggregates
      assert.equal(windows.length, expected.windows.length, 'windows')
      expected.windows.forEach(({ from, to, values, partial }, i) => {
        assert.equal(windows[i].partial ?? false, partial, `whether window ${i} is cut`)
        assert.equal(instantOf(windows[i].from), from, `start of window ${i}`)
        assert.equal(instantOf(windows[i].to), to, `end of window ${i}`)
        for (const [name, value] of values) {
          assert.ok(name in windows[i], `${name} is an aggregate`)
          const found = windows[i][name]
          const isTime = name.endsWith('Time') && found !== null
          const what = `${name} of window ${i}`
          if (typeof value === 'string')
            assert.equal(
              isTime ? timeText(instantOf(found)) : name === 'states' ? statesText(found) : found,
              value,
              what,
            )
          else assertValue(found, value, read.within, what)
        }
      })
    }
  }
}

/** Points of an answer against those of the file, in order. */
export function assertPoints(found: readonly Json[], expected: readonly GoldenPoint[], within: number): void {
  assert.equal(found.length, expected.length, 'number of points')
  expected.forEach((point, i) => {
    assertPoint(found[i], point, within)
  })
}

function assertPoint(found: Json, expected: GoldenPoint, within: number): void {
  const time = timeText(expected.time)
  assert.notEqual(found, null, `a point at ${time}`)
  assert.equal(timeText(instantOf(found.timestamp)), time)
  assertValue(found.value, expected.value, within, `value at ${time}`)
  assert.equal(found.status, expected.bad ? 'BAD' : 'OK', `status at ${time}`)
}

function assertValue(found: number | null, expected: number | null, within: number, what: string): void {
  if (found === null || expected === null) assert.equal(found, expected, what)
  else {
    const off = Math.abs(found - expected)
    assert.ok(off <= within * Math.max(Math.abs(expected), 1e-6), `${what} is ${found}, not ${expected}`)
  }
}

function instantOf(text: string): Instant {
  const time = parseTime(text, { now: 0 as Instant, zone: UTC })
  assert.ok(time !== null, `${text} is a time`)
  return time
}
