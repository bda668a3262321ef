import assert from 'node:assert/strict'
import test from 'node:test'
import { askBody, askOne, historianOf } from '../../../test/multi-harness.ts'
import { FLOW } from './page-tags.fixture.ts'
import { REQUEST_TYPES } from './table.ts'

/** Details with which a request of the type is answered. */
const ANSWERED: Readonly<Record<string, object>> = {
  INTERPOLATED_POINTS: { from: 'today' },
  RAW_POINTS: { from: 'today' },
  AGGREGATED_POINTS: { from: 'today' },
  MULTIPLE_AGGREGATED_POINTS: { from: 'today', interval: '1h' },
  INTERVALS: { from: 'today', aggregatesOf: 'local/FLOW' },
  GAPS: { from: 'today', longerThan: '1h' },
  PLOT: { from: 'today', width: 10 },
}

for (const { name, details } of REQUEST_TYPES.values()) {
  const answered = ANSWERED[name] ?? (name === 'CURRENT_POINT' ? {} : { at: 'now' })

  test(`${name} reads each detail that it declares`, async () => {
    const local = await historianOf('local', { FLOW })
    assert.equal((await askOne([local], name, 'local/FLOW', answered)).error, undefined)
    for (const detail of details) {
      // No detail takes this.
      const { error } = await askOne([local], name, 'local/FLOW', { ...answered, [detail.name]: [{}] })
      assert.match(error, new RegExp(`\\b${detail.name}\\b`))
    }
  })

  test(`${name} says which detail it needs, and that null is none`, async () => {
    const local = await historianOf('local', { FLOW })
    for (const { name: detail, isNeeded } of details) {
      const { error } = await askOne([local], name, 'local/FLOW', { ...answered, [detail]: null })
      if (isNeeded) assert.equal(error, `The details of ${name} need ${detail}`)
      else if (!(detail in answered)) assert.equal(error, undefined)
    }
  })

  test(`${name} warns of the details of others`, async () => {
    const local = await historianOf('local', { FLOW })
    const others = [...REQUEST_TYPES.values()].flatMap(({ fields }) => fields)
    const unknown = [...new Set(others)].filter(
      (other) => other !== 'anchor' && !details.some((own) => own.name === other),
    )
    const extra = Object.fromEntries(unknown.map((other) => [other, 1]))
    const request = { type: name, tag: 'local/FLOW', details: { ...answered, ...extra } }
    const { json } = await askBody([local], { requests: { a: request } })
    assert.deepEqual(json.errors, {})
    const places = unknown.map((other) => `Unknown field ${other} in the details of ${name} was ignored`)
    for (const place of places)
      assert.ok(
        json.warnings.some((one: string) => one.startsWith(place)),
        place,
      )
  })
}

test('a detail that a request does not know does not keep it from its cursor', async () => {
  const local = await historianOf('local', { FLOW })
  const page = { from: '2026-01-15T10:00Z', longerThan: '1s', maxIntervals: 1 }
  const first = await askBody([local], {
    requests: { a: { type: 'GAPS', tag: 'local/FLOW', details: page } },
  })
  const details = { longerThan: '1s', cursor: first.json.next.a, last: 5, maxIntervals: 1 }
  const second = await askBody([local], { requests: { a: { type: 'GAPS', tag: 'local/FLOW', details } } })
  assert.deepEqual(second.json.errors, {})
  assert.equal(second.json.results.a.intervals[0].from, first.json.results.a.intervals[0].to)
})
