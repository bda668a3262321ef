import type { AggregateName } from '../../../series/aggregate-names.ts'

/** What is worked out over each window, and where its point stands. */
export interface WindowOpRule {
  /** Of a window; no point where it has no value. */
  readonly aggregate: AggregateName
  /**
   * Step interpolation from the start of the window on; otherwise the point stands in its middle, and lines join them.
   */
  readonly stepped: boolean
  /** What the aggregate is divided by: the unit of a total; 1 where it is left out. */
  readonly divisor?: number
}

/** By name, in the order of the reference. */
export const WINDOW_OPS = {
  AVG: { aggregate: 'avg', stepped: false },
  MIN: { aggregate: 'min', stepped: true },
  MAX: { aggregate: 'max', stepped: true },
  COUNT: { aggregate: 'numGood', stepped: true },
  STDDEV: { aggregate: 'stdDev', stepped: false },
  VAR: { aggregate: 'variance', stepped: false },
  SUM: { aggregate: 'sum', stepped: true },
  NUMGOOD: { aggregate: 'numGood', stepped: true },
  NUMBAD: { aggregate: 'numBad', stepped: true },
  DIFF: { aggregate: 'deltaBounds', stepped: true },
  /** In microseconds, until it is divided by its unit. */
  TOTAL: { aggregate: 'total', stepped: true },
} as const satisfies { readonly [name: string]: WindowOpRule }

export type WindowOp = keyof typeof WINDOW_OPS

/** The rule of an operation. @param unitUs of TOTAL; 1 for others */
export function windowOp(op: WindowOp, unitUs: number): WindowOpRule {
  return { ...WINDOW_OPS[op], divisor: unitUs }
}
