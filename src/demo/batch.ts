import { hashUniform } from './noise.ts'

/**
 * The recipe of the demo plant: a batch every four hours, counted from 1970, in minutes of the batch. A feed pump fills
 * the reactor from the tank, the tank is refilled meanwhile, the reactor is heated, held, cooled and drained.
 */
export const BATCH_MINUTES = 240

export const FILL = { start: 20, end: 60 }
export const REFILL = { start: 70, end: 150 }
export const HEAT_START = 60
export const HOLD_START = 110
export const COOL_START = 190
export const DRAIN = { start: 220, end: 238 }
export const AGITATION = { start: 40, end: 225 }

/** A time in the plant. */
export interface BatchTime {
  /** Number of the batch. */
  readonly batch: number
  /** Minutes since its start, below BATCH_MINUTES. */
  readonly minute: number
}

export function batchTimeAt(minutes: number): BatchTime {
  const batch = Math.floor(minutes / BATCH_MINUTES)
  return { batch, minute: minutes - batch * BATCH_MINUTES }
}

export function isWithin(
  { minute }: BatchTime,
  span: { readonly start: number; readonly end: number },
): boolean {
  return minute >= span.start && minute < span.end
}

/** Steps of the recipe by their number. */
export const STEP_NAMES = { 0: 'Idle', 1: 'Fill', 2: 'Heat', 3: 'Hold', 4: 'Cool', 5: 'Drain' }

/** The number of the step. */
export function stepOf({ minute }: BatchTime): number {
  if (minute < FILL.start) return 0
  if (minute < HEAT_START) return 1
  if (minute < HOLD_START) return 2
  if (minute < COOL_START) return 3
  return minute < DRAIN.start ? 4 : 5
}

/** Flow of the feed pump in this batch, in m3/h. */
export function pumpFlowOf(batch: number): number {
  return 15 * (0.95 + 0.1 * hashUniform(101, batch))
}

/** Flow into the tank while it is refilled: exactly what was pumped out comes back. */
export function refillFlowOf(batch: number): number {
  return (pumpFlowOf(batch) * (FILL.end - FILL.start)) / (REFILL.end - REFILL.start)
}

/** Temperature that the reactor is held at, in degrees Celsius. */
export function holdTemperatureOf(batch: number): number {
  return 78 + Math.floor(7 * hashUniform(202, batch))
}

/**
 * How far something of first order has followed a switch that is on during a span of the batch: 0 before, towards 1
 * during, back towards 0 after.
 * @param lag time constant, in minutes
 */
export function followed({ minute }: BatchTime, span: { start: number; end: number }, lag: number): number {
  if (minute < span.start) return 0
  const on = 1 - Math.exp(-(Math.min(minute, span.end) - span.start) / lag)
  return minute < span.end ? on : on * Math.exp(-(minute - span.end) / lag)
}

/** The integral of `followed` since the start of the batch, in minutes: a flow's volume, to the last drop. */
export function followedTotal(
  { minute }: BatchTime,
  span: { start: number; end: number },
  lag: number,
): number {
  if (minute < span.start) return 0
  const length = Math.min(minute, span.end) - span.start
  const during = length - lag * (1 - Math.exp(-length / lag))
  if (minute < span.end) return during
  const reached = 1 - Math.exp(-length / lag)
  return during + reached * lag * (1 - Math.exp(-(minute - span.end) / lag))
}

/** A target that holds from a minute of a batch on. */
export interface Target {
  readonly minute: number
  readonly value: number
}

/**
 * A first-order lag after targets that change from batch to batch. Starts two batches back, which is many time
 * constants.
 * @param targetsOf targets of a batch by minute, the first at 0
 * @param lag       time constant of each step towards its target, in minutes
 */
export function lagged(
  { batch, minute }: BatchTime,
  targetsOf: (batch: number) => readonly Target[],
  lag: number,
): number {
  let value = targetsOf(batch - 2)[0]!.value
  for (let past = batch - 2; past <= batch; past++) {
    const end = past === batch ? minute : BATCH_MINUTES
    const targets = targetsOf(past)
    for (const [index, target] of targets.entries()) {
      if (target.minute >= end) break
      const until = Math.min(end, targets[index + 1]?.minute ?? BATCH_MINUTES)
      value = target.value + (value - target.value) * Math.exp(-(until - target.minute) / lag)
    }
  }
  return value
}
