import fc from 'fast-check'

/** A request of a multi call, as its body has it. */
export interface DrawnRequest {
  readonly type: string
  readonly tag: string
  readonly details: object
}

/** An expression around one or two others; `x` may stand in it more than once. */
export type Wrap = (x: string, y: string) => string

/** Every function, at least once. */
export const ALL_WRAPS: readonly Wrap[] = [
  (x, y) => `ADD(${x}, ${y})`,
  (x, y) => `SUB(${x}, ${y}, ${x})`,
  (x, y) => `MUL(${x}, ${y})`,
  (x, y) => `DIV(${x}, ${y})`,
  (x, y) => `PERCENTDEV(${x}, ${y})`,
  (x) => `EXP(${x})`,
  (x) => `LN(${x})`,
  (x) => `SQRT(${x})`,
  (x) => `LOG(${x}, 2)`,
  (x) => `POW(${x}, 2)`,
  (x) => `ABS(${x})`,
  (x) => `NEG(${x})`,
  (x) => `SIGN(${x})`,
  (x) => `MOD(${x}, 3)`,
  (x) => `ROUND(${x}, 1)`,
  (x) => `ROUNDUP(${x}, 0)`,
  (x) => `ROUNDDOWN(${x}, 1)`,
  (x) => `MROUND(${x}, 0.5)`,
  (x) => `FLOOR(${x}, 2)`,
  (x) => `CEILING(${x}, 2)`,
  (x, y) => `MAX(${x}, ${y})`,
  (x, y) => `MIN(${x}, ${y}, ${x})`,
  (x, y) => `MEAN(${x}, ${y}, 2)`,
  (x, y) => `MEDIAN(${x}, ${y}, 1)`,
  (x, y) => `STDDEV(${x}, ${y})`,
  (x, y) => `VARIANCE(${x}, ${y}, 4)`,
  (x, y) => `IFTAGEXISTS(${x}, ${y})`,
  (x, y) => `IFEQUALS(${x}, ${y}, 1, ${x}, 0.5)`,
  (x, y) => `THRESHOLD(${x}, 1, ${x}, ${y})`,
  (x) => `THRESHOLD(${x}, 2, 1, 0)`,
  (x, y) => `TIME_THRESHOLD(2026-01-15T07:00:00Z, ${x}, ${y})`,
  (x) => `STEPPED(${x})`,
  (x) => `STEPPEDRAW(${x})`,
  (x) => `NOBAD(${x})`,
  (x) => `MAXGAP(${x}, 30min)`,
  (x) => `TIMESHIFT(${x}, -30m)`,
  (x) => `TIMESHIFT(${x}, 1d)`,
  (x) => `TIMESHIFT(${x}, begin of this hour)`,
  (x, y) => `SUB(${x}, POINTINTIME(${y}, -2h))`,
  (x) => `EPOCH_MS(${x})`,
  (x) => `LOWPASS(${x}, 600)`,
  (x) => `HIGHPASS(${x}, 900)`,
  (x) => `TOTALISE(${x}, 1h, BEGIN_DAY, 1h)`,
  (x) => `TOTALISE(${x}, 2h, 0, 1h)`,
  (x) => `TOTALISERAW(${x}, DAY, BEGIN_DAY, 1d)`,
  (x) => `SLIDINGAGG(${x}, AVG, 1h)`,
  (x) => `SLIDINGAGG(${x}, MAX, 45m)`,
  (x) => `SLIDINGAGG(${x}, DIFF, 1h)`,
  (x) => `SLIDINGAGG(${x}, COUNT, 2h)`,
  (x) => `SLIDINGAGG(${x}, TOTAL, 1h, 1min)`,
  (x) => `WINDOWAGG(${x}, TOTAL, 1h, 1min)`,
  (x) => `WINDOWAGG(${x}, SUM, 30m, 00:10)`,
  (x) => `WINDOWAGG(${x}, AVG, 1h)`,
  (x) => `WINDOWAGG(${x}, MAX, 30m)`,
]

/** A leaf alone, or a calculation of a depth between the least and the most. */
export function addressOver(
  leaf: fc.Arbitrary<string>,
  wraps: readonly Wrap[],
  { least, most }: { readonly least: number; readonly most: number },
): fc.Arbitrary<string> {
  const layer = fc.tuple(fc.constantFrom(...wraps), leaf)
  return (
    fc
      .tuple(leaf, fc.array(layer, { minLength: least, maxLength: most, size: 'max' }))
      .map(([first, layers]) => ({
        text: layers.reduce<string>((x, [wrap, y]) => wrap(x, y), first),
        isTag: layers.length === 0,
      }))
      // Beyond the grammar's own limit nothing is read.
      .filter(({ text }) => text.length < 5_000)
      .map(({ text, isTag }) => (isTag ? text : `calc/${text}`))
  )
}

const MIDNIGHT_MS = Date.UTC(2026, 0, 15)
const minute = fc.integer({ min: -60, max: 780 })
const time = fc.oneof(
  { weight: 5, arbitrary: minute.map((minutes) => MIDNIGHT_MS + minutes * 60_000) },
  { weight: 1, arbitrary: fc.constantFrom('now', '2 hours ago', '2026-01-15T03:00:00Z') },
)
const range = fc.tuple(minute, fc.integer({ min: 1, max: 600 })).map(([from, minutes]) => ({
  from: MIDNIGHT_MS + from * 60_000,
  to: MIDNIGHT_MS + (from + minutes) * 60_000,
}))
const boundary = fc.constantFrom('INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED')
const aggregates = fc.subarray(
  ['MIN', 'MAX', 'AVG', 'MEDIAN', 'COUNT', 'NUMBAD', 'TIMEAVG', 'FIRST', 'LAST', 'STDDEV'],
  { minLength: 1 },
)
const few = fc.integer({ min: 1, max: 20 })

/** Every request type over an address. */
export function requestOver(tag: fc.Arbitrary<string>): fc.Arbitrary<DrawnRequest> {
  const overRange = <Details extends object>(type: string, rest: fc.Arbitrary<Details>) =>
    fc.record({
      type: fc.constant(type),
      tag,
      details: fc.tuple(range, rest).map(([fromTo, details]) => ({ ...fromTo, ...details })),
    })
  return fc.oneof(
    fc.record({
      type: fc.constant('CURRENT_POINT'),
      tag,
      details: fc.oneof(fc.constant({}), fc.record({ now: time })),
    }),
    fc.record({
      type: fc.constantFrom(
        'HISTORICAL_POINT',
        'POINT_BEFORE',
        'POINT_BEFORE_OR_AT',
        'POINT_AFTER',
        'POINT_AFTER_OR_AT',
        'ADJACENT_POINTS',
      ),
      tag,
      details: fc.record({ at: time }),
    }),
    overRange('INTERPOLATED_POINTS', fc.record({ count: few })),
    overRange('INTERPOLATED_POINTS', fc.record({ interval: fc.constantFrom('30m', '1h') })),
    overRange(
      'RAW_POINTS',
      fc.record({
        maxPoints: few,
        leftBoundary: boundary,
        rightBoundary: boundary,
        order: fc.constantFrom('asc', 'desc'),
      }),
    ),
    overRange('AGGREGATED_POINTS', fc.record({ aggregates })),
    overRange('AGGREGATED_POINTS', fc.constant({})),
    overRange('MULTIPLE_AGGREGATED_POINTS', fc.record({ aggregates, count: few })),
    overRange(
      'MULTIPLE_AGGREGATED_POINTS',
      fc.record({ aggregates, interval: fc.constantFrom('20m', '1h') }),
    ),
  )
}

/** Labels of a call, in order; the requests of a small pool, so that some are equal. */
export function labelsOver(request: fc.Arbitrary<DrawnRequest>): fc.Arbitrary<[string, DrawnRequest][]> {
  return fc
    .tuple(
      fc.array(request, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
    )
    .map(([pool, again]) => [...pool, ...again.map((index) => pool[index % pool.length]!)])
    .map((requests) => requests.map((one, index) => [`label${index}`, one]))
}
