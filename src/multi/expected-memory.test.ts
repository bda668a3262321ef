import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SIGNATURES } from '../calc/functions/index.ts'
import { ArraySource, storedTag } from '../calc/graph/array-source.fixture.ts'
import { Evaluation } from '../calc/graph/evaluation.ts'
import { Graph } from '../calc/graph/graph.ts'
import { parseTag } from '../grammar/parser.ts'
import { instantFromUs } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import { expectedBytes } from './expected-memory.ts'

const now = instantFromUs(0)

/** A label of a calculation that reads so many points of a tag, and asks for one. */
function bytesOf(text: string, points: number): number {
  const grammar = { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC }
  const evaluation = new Evaluation({ source: new ArraySource(new Map()) })
  const graph = new Graph(({ name }) => storedTag(name, false, 'none'))
  const operator = graph.build(parseTag(`calc/${text}`, grammar), {
    evaluation,
    now,
    zone: UTC,
    range: { from: now, to: now },
  })
  const reads = [{ points }] as never
  return expectedBytes({ operator, other: null, size: { points: 1, windows: 0 }, reads, generated: 0 })
}

test('a calculation is expected to hold what it reads in each of its operators, once', () => {
  const one = bytesOf('LOWPASS(h/A, 60)', 10_000)
  const four = bytesOf('LOWPASS(LOWPASS(LOWPASS(LOWPASS(h/A, 60), 60), 60), 60)', 10_000)
  assert.ok(four > 2 * one && four < 4 * one, `${one} and ${four} bytes`)
  const [twice, once] = ['ADD(LOWPASS(h/A, 60), LOWPASS(h/A, 60))', 'ABS(LOWPASS(h/A, 60))']
  assert.ok(Math.abs(bytesOf(twice, 10_000) - bytesOf(once, 10_000)) < 100)
  assert.ok(bytesOf('LOWPASS(h/A, 60)', 1) < 10_000)
})

test('what an evaluation keeps is bounded, and so is what is expected', () => {
  assert.equal(bytesOf('LOWPASS(h/A, 60)', 10_000_000), bytesOf('LOWPASS(h/A, 60)', 20_000_000))
})

test('very deep calculations are expected to hold ranges of each level, two at a time', () => {
  const nested = (levels: number) =>
    Array.from({ length: levels }).reduce<string>((inner) => `HIGHPASS(${inner},60)`, 'h/A')
  assert.ok(bytesOf(nested(10), 1) < 100_000)
  // Of the 192 MB of the gate two of them take most.
  assert.ok(bytesOf(nested(50), 1) > 64 * 2 ** 20)
})

test('wide calculations are expected to hold each of their operators, also those that are constants', () => {
  const many = Array.from({ length: 300 }, (_, i) => `POINTINTIME(h/A, -${i})`)
  assert.ok(bytesOf(`ADD(${many})`, 1) > 500_000)
})
