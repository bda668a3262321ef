import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Argument, TagTree } from '../../grammar/tree.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { assertWithinLoad } from '../graph/load-margin.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { SLOW_FUNCTIONS, type SlowFunction, type SlowName, slowValue } from '../slow-functions.fixture.ts'
import { type Model, Reference, type World } from '../slow-reference.fixture.ts'

/** Times of stored points; requests reach a little further on both sides. */
export const SPAN = 40

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(4)), {
    maxLength: 12,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

/** At most three tags, so that the same one occurs often. */
const tags = fc.tuple(
  fc.tuple(rows, fc.boolean()),
  fc.tuple(rows, fc.boolean()),
  fc.tuple(rows, fc.boolean()),
)

type Tags = readonly (readonly [rows: readonly Row[], stepped: boolean])[]

const windows = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('laid' as const),
      us: fc.integer({ min: 1, max: 25 }),
      anchor: fc.nat(30),
    }),
  },
  fc.record({
    kind: fc.constant('dynamic' as const),
    us: fc.integer({ min: 1, max: 25 }),
    shift: fc.integer({ min: -9, max: 9 }),
  }),
)

/** Shapes of calculations, over tags by number. */
export type Shape =
  | number
  | { readonly constant: number }
  | { readonly call: SlowName; readonly inputs: readonly Shape[] }
  | { readonly total: Shape; readonly window: (Model & { kind: 'total' })['window']; readonly rateUs: number }

export const shapes = fc.letrec<{ shape: Shape; call: Shape; total: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: fc.nat(2) as fc.Arbitrary<Shape> },
    { weight: 1, arbitrary: fc.record({ constant: fc.integer({ min: -3, max: 3 }) }) as fc.Arbitrary<Shape> },
    { weight: 3, arbitrary: tie('call') },
    { weight: 2, arbitrary: tie('total') },
  ),
  call: fc
    .record({
      call: fc.oneof(fc.constantFrom<SlowName[]>('ADD', 'SUB', 'MUL', 'DIV'), {
        weight: 2,
        arbitrary: fc.constantFrom(...(Object.keys(SLOW_FUNCTIONS) as SlowName[])),
      }),
      inputs: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    })
    .map(({ call, inputs }): Shape => {
      const { inputs: most }: SlowFunction = SLOW_FUNCTIONS[call]
      if (most === null) return { call, inputs }
      return { call, inputs: Array.from({ length: most }, (_, i) => inputs[i % inputs.length]!) }
    }),
  total: (
    fc.record({ total: tie('shape'), window: windows, rateUs: fc.constantFrom(1, 4) }) as fc.Arbitrary<
      Shape & { total: Shape }
    >
  ).filter(({ total }) => !movesWithTime(total)),
})).shape

/**
 * A rolling window's total goes on changing beyond its raw points, where nothing says how it runs between them; so none
 * is totalised again here.
 */
function movesWithTime(shape: Shape): boolean {
  if (typeof shape === 'number' || 'constant' in shape) return false
  if ('call' in shape) return shape.inputs.some(movesWithTime)
  return shape.window.kind === 'dynamic' || movesWithTime(shape.total)
}

function modelOf(shape: Shape, tags: Tags): Model {
  const made = new Map<number, Model>()
  const build = (shape: Shape): Model => {
    if (typeof shape === 'number') {
      const [rows, stepped] = tags[shape]!
      return made.getOrInsertComputed(shape, () => ({ kind: 'tag', name: `T${shape}`, stepped, rows }))
    }
    if ('constant' in shape) return { kind: 'constant', value: shape.constant }
    if ('call' in shape) return { kind: 'call', name: shape.call, inputs: shape.inputs.map(build) }
    return { kind: 'total', input: build(shape.total), window: shape.window, rateUs: shape.rateUs }
  }
  return build(shape)
}

function treeOf(model: Model): TagTree {
  const column = 1
  const series = (input: Model): Argument => ({ kind: 'series', tree: treeOf(input), column })
  switch (model.kind) {
    case 'tag':
      return { kind: 'tag', historian: 'h', name: model.name, column }
    case 'constant':
      return { kind: 'tag', historian: 'constants', name: String(model.value), column }
    case 'call':
      return { kind: 'call', name: model.name, args: model.inputs.map(series), column }
    case 'total': {
      const { window, rateUs } = model
      const length = { kind: 'exact', us: window.us } as const
      return {
        kind: 'call',
        name: 'TOTALISE',
        args: [
          series(model.input),
          {
            kind: 'window',
            window: { kind: 'duration', duration: length, text: '' },
            text: `${window.us}us`,
            column,
          },
          window.kind === 'laid'
            ? {
                kind: 'anchor',
                anchor: { kind: 'fixed', at: instantFromUs(window.anchor) },
                text: `at ${window.anchor}`,
                column,
              }
            : {
                kind: 'anchor',
                anchor: { kind: 'dynamic', shift: { kind: 'exact', us: window.shift } },
                text: `${window.shift}us`,
                column,
              },
          { kind: 'duration', duration: { kind: 'exact', us: rateUs }, text: `${rateUs}us`, column },
        ],
        column,
      }
    }
  }
}

export interface Case {
  readonly model: Model
  readonly reference: Reference
  readonly source: ArraySource
  readonly series: TestSeries
}

export const setting = fc.record({
  tags,
  shape: shapes,
  now: fc.integer({ min: 0, max: SPAN + 10 }),
  pushDowns: fc.constantFrom('all' as const, 'none' as const, 'no median' as const),
  page: fc.integer({ min: 1, max: 6 }),
})

export function makeCase(
  { tags, shape, now, pushDowns, page }: typeof setting extends fc.Arbitrary<infer Setting> ? Setting : never,
  range: Pick<World, 'from' | 'to'>,
  source = new ArraySource(new Map(tags.map(([rows], i) => [`T${i}`, columnsOf(rows)]))),
): Case {
  const model = modelOf(shape, tags)
  const context = {
    source,
    now: instantFromUs(now),
    zone: UTC,
    range: { from: instantFromUs(range.from), to: instantFromUs(range.to) },
    pagePoints: page,
  }
  const series = seriesOf(treeOf(model), context, ({ name }) =>
    storedTag(name, tags[Number(name.slice(1))]![1], pushDowns),
  )
  return { model, reference: new Reference({ now, ...range }), source, series }
}

export function assertClose(actual: number, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual}, and there is no value`)
  else {
    // Cancelled digits of the reference itself are not held against the engine.
    const off = Math.abs(actual - expected)
    assert.ok(off <= 1e-6 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, and it is ${expected}`)
  }
}

/** The estimate of a need, and the margin, cover what answering it fetched. */
export function assertPlanned({ series, source }: Case, needs: readonly Need[], crossed: number): void {
  const reads = series.estimate(needs)
  assertWithinLoad(crossed, costOf(reads, source), reads.map(({ key }) => key).join('; '))
}

export const ranges = fc
  .tuple(fc.integer({ min: -6, max: SPAN + 6 }), fc.integer({ min: 1, max: SPAN + 12 }))
  .map(([from, length]) => ({ from, to: from + length }))

/**
 * Whether no roundings decide: a divisor that is 0 in one of the two and 1e-17 in the other, a number at the edge of
 * being rounded up, or results so large that their digits differ.
 */
export function isTame({ reference, model }: Case, times: readonly number[]): boolean {
  /** Whether both are sure to have the same whole number. */
  const isWhole = (part: Model, at: number): boolean => {
    switch (part.kind) {
      case 'constant':
        return true
      case 'tag':
        return part.stepped || part.rows.some(([time, , bad]) => time === at && !bad)
      case 'total':
        return false
      case 'call': {
        const { keepsWhole }: SlowFunction = SLOW_FUNCTIONS[part.name]
        return keepsWhole === true && part.inputs.every((input) => isWhole(input, at))
      }
    }
  }
  const isSteady = (part: Model & { readonly kind: 'call' }, at: number): boolean =>
    [
      part.inputs.map((input) => reference.valueAt(input, at)),
      part.inputs.map((input) => reference.valueAt(input, at, 'before')),
      part.inputs.map((input) => reference.rawPoint(input, at).value),
    ].every((inputs) => {
      const value = slowValue(part.name, inputs)
      return inputs.every((input, i) => {
        if (isWhole(part.inputs[i]!, at)) return true
        return [-1e-9, 1e-9].every((off) => {
          const near = slowValue(part.name, inputs.with(i, input + off * Math.max(1, Math.abs(input))))
          return Object.is(near, value) || Math.abs(near - value) <= 1e-6 * Math.max(1, Math.abs(value))
        })
      })
    })
  const tame = (part: Model, at: readonly number[]): boolean => {
    if (at.some((time) => Math.abs(reference.valueAt(part, time)) > 1e9)) return false
    switch (part.kind) {
      case 'tag':
      case 'constant':
        return true
      case 'total':
        return tame(part.input, reference.rawTimes(part.input))
      case 'call':
        return at.every((time) => isSteady(part, time)) && part.inputs.every((input) => tame(input, at))
    }
  }
  return tame(model, times)
}
