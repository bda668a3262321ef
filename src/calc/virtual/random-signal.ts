import type { Side } from '../../series/interpolate.ts'
import type { GeneratedSignal } from '../leaves/generated.ts'
import { type CycleGrid, STEPS } from './cycle-grid.ts'
import { murmur3 } from './murmur3.ts'

/** Added to the seed for the second half of a random number: 2^32 divided by the golden ratio. */
const SECOND_SEED = 0x9e3779b9

/**
 * Repeatable noise: a value for each hundredth of the period, uniform in [-amplitude, amplitude] around the level, held
 * to the next. The value of a step is a hash of its number since the origin and of the seed, so that any step is had
 * without those before it: 32 bits of MurmurHash3 over the number as 8 bytes (two's complement, least significant
 * first) with the seed, then the upper 21 bits of one with the seed + 0x9e3779b9, as a whole number of 53 bits, divided
 * by 2^53 - 1.
 */
export class RandomSignal implements GeneratedSignal {
  readonly stepped = true
  readonly linear = true
  readonly #amplitude: number
  readonly #level: number
  readonly #seed: number
  readonly #grid: CycleGrid

  /** @param seed 0 to 2^32 - 1 */
  constructor(amplitude: number, level: number, seed: number, grid: CycleGrid) {
    this.#amplitude = amplitude
    this.#level = level
    this.#seed = seed
    this.#grid = grid
  }

  valueAt(at: number, side: Side): number {
    // Values change at whole microseconds, so the one before has what was held until here.
    const [low, high] = this.#stepNumber(side === 'at' ? at : at - 1)
    const first = murmur3(low, high, this.#seed)
    const second = murmur3(low, high, this.#seed + SECOND_SEED) >>> 11
    const part = (first * 2 ** 21 + second) / (2 ** 53 - 1)
    return this.#level + this.#amplitude * (2 * part - 1)
  }

  rawAtOrBefore(at: number): number {
    return this.#grid.startOfStep(at)
  }

  rawAfter(at: number): number {
    return this.#grid.endOfStep(at)
  }

  countRaw(from: number, to: number): number {
    return this.#grid.countStarts(from, to)
  }

  /** 100 for each cycle since the origin and the steps since its beginning, in two words: a double need not hold it. */
  #stepNumber(at: number): readonly [low: number, high: number] {
    const cycle = this.#grid.cycleAt(at)
    const high = Math.floor(cycle / 2 ** 32)
    const low = (cycle - high * 2 ** 32) * STEPS + this.#grid.stepAt(this.#grid.phaseAt(at))
    return [low, high * STEPS + Math.floor(low / 2 ** 32)]
  }
}
