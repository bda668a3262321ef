import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { assertWithinLoad } from '../graph/load-margin.fixture.ts'
import type { Need } from '../graph/need.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { type Model, modelText } from './conditioning-model.fixture.ts'
import { SlowConditioning, type World } from './slow-conditioning.fixture.ts'

/** Times of stored points; requests reach a little further on both sides. */
export const SPAN = 40

type Tag = Model & { readonly kind: 'tag' }

const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.tuple(fc.nat(SPAN), fc.integer({ min: -8, max: 8 }), fc.nat(4)), {
    maxLength: 12,
    selector: ([time]) => time,
  })
  .map((rows) => rows.sort(([a], [b]) => a - b).map(([time, value, bad]): Row => [time, value, bad === 0]))

const tags = fc.tuple(...[0, 1, 2].map((i) => tagNamed(`T${i}`)))

function tagNamed(name: string): fc.Arbitrary<Tag> {
  return fc.record({
    kind: fc.constant('tag' as const),
    name: fc.constant(name),
    stepped: fc.boolean(),
    rows,
  })
}

const constants = fc.integer({ min: -6, max: 6 }).map((n): Model => ({ kind: 'constant', value: n / 2 }))
const branches = fc.oneof(constants, fc.constant<Model>({ kind: 'constant', value: Number.NaN }))
export const shifts = fc.integer({ min: -15, max: 15 })

/** Calculations over tags; `a` and `b` of comparisons run linear between their raw points. */
function modelsOf(tags: readonly Model[]): fc.Arbitrary<Model> {
  const tag = fc.constantFrom(...tags)
  return fc.letrec<{ linear: Model; any: Model }>((tie) => {
    const linear = tie('linear')
    const any = tie('any')
    return {
      linear: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        { weight: 4, arbitrary: tag },
        { weight: 1, arbitrary: constants },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), a: linear, b: linear }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('nobad' as const), a: tag }) },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constantFrom('stepped' as const, 'steppedraw' as const),
            a: linear,
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ kind: fc.constant('shift' as const), a: linear, us: shifts }),
        },
        { weight: 1, arbitrary: thresholds(linear, fc.oneof(branches, linear)) },
      ),
      any: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        { weight: 3, arbitrary: linear },
        { weight: 2, arbitrary: thresholds(linear, fc.oneof(branches, any)) },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constant('equals' as const),
            a: linear,
            b: linear,
            yes: fc.oneof(branches, any),
            no: fc.oneof(branches, any),
            precision: fc.constantFrom(0, 0.5, 2, 10, 50, 250),
            percent: fc.boolean(),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constant('time' as const),
            at: fc.integer({ min: -5, max: SPAN }),
            before: fc.oneof(branches, any),
            after: fc.oneof(branches, any),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constantFrom<('stepped' | 'steppedraw' | 'nobad' | 'epoch')[]>(
              ...(['stepped', 'steppedraw', 'nobad', 'epoch'] as const),
            ),
            a: any,
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            kind: fc.constantFrom('shift' as const, 'point' as const),
            a: any,
            us: shifts,
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constantFrom('lowpass' as const, 'highpass' as const),
            a: any,
            periodUs: fc.constantFrom(1, 3, 20),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ kind: fc.constantFrom('add' as const, 'mul' as const), a: any, b: any }),
        },
      ),
    }
  }).any
}

function thresholds(compared: fc.Arbitrary<Model>, chosen: fc.Arbitrary<Model>): fc.Arbitrary<Model> {
  return fc.record({
    kind: fc.constant('threshold' as const),
    a: compared,
    b: compared,
    yes: chosen,
    no: chosen,
  })
}

export const setting = tags.chain((tags) =>
  fc.record({
    tags: fc.constant(tags),
    model: modelsOf(tags),
    now: fc.integer({ min: 0, max: SPAN + 10 }),
    pushDowns: fc.constantFrom('all' as const, 'none' as const),
    page: fc.integer({ min: 1, max: 6 }),
  }),
)

type Setting = typeof setting extends fc.Arbitrary<infer Made> ? Made : never

export interface Case {
  readonly model: Model
  readonly slow: SlowConditioning
  readonly source: ArraySource
  readonly series: TestSeries
  readonly text: string
}

export function makeCase(
  { tags, model, now, pushDowns, page }: Setting,
  { from, to }: Omit<World, 'now'>,
): Case {
  const source = new ArraySource(new Map(tags.map(({ name, rows }) => [name, columnsOf(rows)])))
  const range = { from: instantFromUs(from), to: instantFromUs(to) }
  const context = { source, now: instantFromUs(now), zone: UTC, range, pagePoints: page }
  const body = modelText(model)
  const text = body.includes('(') ? `calc/${body}` : body
  const tree = parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now: context.now, zone: UTC })
  // Whether two values are equal that differ by a rounding, nobody can say.
  fc.pre(isTame(model, new SlowConditioning({ now, from, to })))
  const series = seriesOf(tree, context, ({ name }) =>
    storedTag(name, tags.find((tag) => tag.name === name)!.stepped, pushDowns),
  )
  return { model, slow: new SlowConditioning({ now, from, to }), source, series, text }
}

export const ranges = fc
  .tuple(fc.integer({ min: -6, max: SPAN + 6 }), fc.integer({ min: 1, max: SPAN + 12 }))
  .map(([from, length]) => ({ from, to: from + length }))

export function assertClose(actual: number, expected: number, what: string): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(actual), `${what}: ${actual}, and there is no value`)
  else {
    const off = Math.abs(actual - expected)
    assert.ok(off <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, and it is ${expected}`)
  }
}

/**
 * Whether NOBAD takes away raw points at which its input ceases to have a value, or at which EPOCH_MS switches: nothing
 * says then any more where that is.
 */
export function losesBends(model: Model, slow: SlowConditioning): boolean {
  if (model.kind === 'nobad') {
    const bad = slow.raws(model.a).filter((raw) => raw.bad)
    if (bad.some(({ value }) => Number.isNaN(value))) return true
    if (bad.length > 0 && modelText(model).includes('EPOCH_MS')) return true
  }
  return Object.values(model).some(
    (part) => typeof part === 'object' && 'kind' in part && losesBends(part, slow),
  )
}

/** Whether no comparison depends on the last digits of what it compares. */
function isTame(model: Model, slow: SlowConditioning): boolean {
  if (model.kind === 'threshold' || model.kind === 'equals') {
    for (let t = -60; t < 2 * SPAN; t++) {
      const gaps = (['at', 'before'] as const).flatMap((side) => slow.gaps(model, t, side))
      if (gaps.some((gap) => gap !== 0 && Math.abs(gap) < 1e-9)) return false
    }
  }
  return Object.values(model).every(
    (part) => typeof part !== 'object' || !('kind' in part) || isTame(part, slow),
  )
}

/** What was estimated for a need, and the margin, cover what answering it fetched. */
export function assertEstimated({ series, source, text }: Case, need: Need, crossed: number): void {
  const reads = series.estimate([need])
  assertWithinLoad(crossed, costOf(reads, source), `${text} ${reads.map(({ key }) => key).join('; ')}`)
}
