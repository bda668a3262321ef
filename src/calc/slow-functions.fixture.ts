/**
 * An elementwise function, written the obvious way: what the engine's own is compared with. It shares no code with it.
 */
export interface SlowFunction {
  /** How many inputs it takes; `null` for any number from 1. */
  readonly inputs: number | null
  /** Inputs without a value are NaN, as is no result; never given NaN where `leavesNullsOut` is set. */
  readonly compute: (...inputs: number[]) => number
  readonly leavesNullsOut?: true
  /** Of whole numbers it makes whole numbers, without any rounding of doubles. */
  readonly keepsWhole?: true
}

/** By name. */
export const SLOW_FUNCTIONS = {
  ADD: { inputs: null, compute: (...all) => all.reduce((a, b) => a + b), keepsWhole: true },
  SUB: { inputs: null, compute: (...all) => all.reduce((a, b) => a - b), keepsWhole: true },
  MUL: { inputs: null, compute: (...all) => all.reduce((a, b) => a * b), keepsWhole: true },
  DIV: { inputs: null, compute: (...all) => all.reduce((a, b) => a / b) },
  PERCENTDEV: { inputs: 2, compute: (a, b) => ((a! - b!) / b!) * 100 },
  EXP: { inputs: 1, compute: (x) => Math.E ** x! },
  LN: { inputs: 1, compute: (x) => Math.log2(x!) * Math.LN2 },
  SQRT: { inputs: 1, compute: (x) => x! ** 0.5 },
  LOG: { inputs: 2, compute: (x, base) => (base! > 0 ? Math.log2(x!) / Math.log2(base!) : Number.NaN) },
  POW: { inputs: 2, compute: (x, p) => (Number.isNaN(x) ? Number.NaN : x! ** p!) },
  ABS: { inputs: 1, compute: (x) => (x! < 0 ? -x! : x!), keepsWhole: true },
  NEG: { inputs: 1, compute: (x) => -x!, keepsWhole: true },
  SIGN: { inputs: 1, compute: (x) => (x! === 0 ? 0 : x! / Math.abs(x!)), keepsWhole: true },
  MOD: { inputs: 2, compute: (a, b) => a! - b! * Math.floor(a! / b!), keepsWhole: true },
  ROUND: {
    inputs: 2,
    compute: (x, n) => decimally(x!, n!, (y) => Math.sign(y) * Math.floor(Math.abs(y) + 0.5)),
    keepsWhole: true,
  },
  ROUNDUP: {
    inputs: 2,
    compute: (x, n) => decimally(x!, n!, (y) => Math.sign(y) * Math.ceil(Math.abs(y))),
    keepsWhole: true,
  },
  ROUNDDOWN: {
    inputs: 2,
    compute: (x, n) => decimally(x!, n!, (y) => Math.sign(y) * Math.floor(Math.abs(y))),
    keepsWhole: true,
  },
  MROUND: {
    inputs: 2,
    compute: (x, m) => Math.sign(x!) * Math.floor(Math.abs(x! / m!) + 0.5) * Math.abs(m!),
    keepsWhole: true,
  },
  FLOOR: { inputs: 2, compute: (x, m) => Math.floor(x! / Math.abs(m!)) * Math.abs(m!), keepsWhole: true },
  CEILING: { inputs: 2, compute: (x, m) => Math.ceil(x! / Math.abs(m!)) * Math.abs(m!), keepsWhole: true },
  MAX: { inputs: null, compute: (...all) => sorted(all).at(-1)!, leavesNullsOut: true, keepsWhole: true },
  MIN: { inputs: null, compute: (...all) => sorted(all)[0]!, leavesNullsOut: true, keepsWhole: true },
  MEAN: { inputs: null, compute: (...all) => meanOf(all), leavesNullsOut: true },
  MEDIAN: {
    inputs: null,
    compute: (...all) =>
      meanOf([sorted(all)[Math.ceil(all.length / 2) - 1]!, sorted(all)[Math.floor(all.length / 2)]!]),
    leavesNullsOut: true,
  },
  STDDEV: { inputs: null, compute: (...all) => Math.sqrt(varianceOf(all)), leavesNullsOut: true },
  VARIANCE: { inputs: null, compute: (...all) => varianceOf(all), leavesNullsOut: true },
} as const satisfies { readonly [name: string]: SlowFunction }

export type SlowName = keyof typeof SLOW_FUNCTIONS

/** The function's value; NaN where it has none. */
export function slowValue(name: SlowName, inputs: readonly number[]): number {
  const slow: SlowFunction = SLOW_FUNCTIONS[name]
  const given = slow.leavesNullsOut === true ? inputs.filter((value) => !Number.isNaN(value)) : inputs
  if (given.length === 0 || given.some(Number.isNaN)) return Number.NaN
  const value = slow.compute(...given)
  return Number.isFinite(value) ? value : Number.NaN
}

/** Moves the point of the printed number, rounds, and moves it back. */
function decimally(x: number, decimals: number, round: (y: number) => number): number {
  const places = Math.trunc(decimals)
  const shifted = moved(x, places)
  // Beyond all digits of a double, to the right or to the left.
  if (!Number.isFinite(shifted)) return x
  return moved(round(shifted === 0 ? Math.sign(x) * Number.MIN_VALUE : shifted), -places)
}

function moved(x: number, places: number): number {
  const [digits, exponent = '0'] = String(x).split('e')
  return Number(`${digits}e${Number(exponent) + places}`)
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Half the mean of the squared distances of all pairs. */
function varianceOf(values: readonly number[]): number {
  if (values.length === 1) return 0
  const pairs = values.flatMap((a, i) => values.slice(i + 1).map((b) => (a - b) ** 2))
  return meanOf(pairs) / 2
}
