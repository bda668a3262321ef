import type { AggregateColumns, FirstAggregateName } from '../../series/aggregate-names.ts'
import { timeAverages } from '../../series/integrate.ts'
import { type Side, valueBetween } from '../../series/interpolate.ts'
import type { Integrals } from '../../series/reads.ts'
import { CompensatedSum } from '../../series/sum.ts'
import type { ClosedForm, GeneratedSignal } from '../leaves/generated.ts'
import { type CycleGrid, STEPS } from './cycle-grid.ts'
import { RepeatedPoints } from './repeated-points.ts'
import type { Waveform } from './waveforms.ts'

/**
 * A waveform, repeated. Its 100 raw points are the same in every period, so that integrals and aggregates over any
 * range cost no more than over one period; they are those of its points and of the lines between them, as for every
 * series.
 */
export class PeriodicSignal implements GeneratedSignal, ClosedForm {
  readonly stepped: boolean
  readonly linear: boolean
  readonly closedForm = this
  readonly #wave: Waveform
  readonly #amplitude: number
  readonly #level: number
  readonly #grid: CycleGrid
  #cycle: Cycle | null = null

  /** @param level what the waveform swings around; |amplitude| + |level| is finite */
  constructor(wave: Waveform, amplitude: number, level: number, grid: CycleGrid) {
    this.stepped = wave.stepped
    this.linear = wave.linear
    this.#wave = wave
    this.#amplitude = amplitude
    this.#level = level
    this.#grid = grid
  }

  valueAt(at: number, side: Side): number {
    const phase = this.#grid.phaseAt(at)
    return this.#level + (side === 'at' ? this.#swingAt(phase) : this.#swingBefore(phase))
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

  integrals(starts: Float64Array, ends: Float64Array): Integrals {
    const coveredUs = starts.map((start, i) => ends[i]! - start)
    const integrals = starts.map((start, i) => {
      const lengthUs = coveredUs[i]!
      return lengthUs > 0 ? this.#swingOver(start, ends[i]!) + this.#level * lengthUs : 0
    })
    return { integrals, coveredUs }
  }

  aggregates(edges: Float64Array, names: readonly FirstAggregateName[]): AggregateColumns {
    const points = this.#points()
    const columns: { [name in FirstAggregateName]?: Float64Array } = {}
    for (const name of names) columns[name] = new Float64Array(edges.length - 1)
    for (let i = 0; i + 1 < edges.length; i++) {
      const first = this.#grid.endOfStep(edges[i]! - 1)
      const count = this.#grid.countStarts(edges[i]!, edges[i + 1]!)
      points.choose(this.#grid.stepAt(this.#grid.phaseAt(first)), count)
      for (const name of names) if (name !== 'timeAvg') columns[name]![i] = points.aggregate(name)
    }
    if (names.includes('timeAvg'))
      columns.timeAvg = timeAverages(this.integrals(edges.subarray(0, -1), edges.subarray(1)))
    return columns
  }

  /** What the waveform adds to the level. */
  #swingAt(phase: number): number {
    return this.#amplitude * this.#wave.value(phase, this.#grid.periodUs, this.#grid)
  }

  #swingBefore(phase: number): number {
    if (phase === 0 && this.#wave.end !== null) return this.#amplitude * this.#wave.end
    // The microsecond before has what a stepped signal held until here.
    return this.#swingAt(this.stepped && phase > 0 ? phase - 1 : phase)
  }

  #points(): RepeatedPoints {
    const { at } = this.#cycleOf()
    return new RepeatedPoints(at.map((swing) => this.#level + swing))
  }

  /** Integral of the swing over [from, to], in whole cycles and what is left of the first and the last. */
  #swingOver(from: number, to: number): number {
    const grid = this.#grid
    const cycle = this.#cycleOf()
    const cycles = grid.cycleAt(to) - grid.cycleAt(from)
    const phase1 = grid.phaseAt(from)
    const phase2 = grid.phaseAt(to)
    const step = grid.stepAt(phase1)
    if (cycles === 0 && grid.stepAt(phase2) === step) {
      // The difference of two long integrals would have few digits left of a short one.
      return (phase2 - phase1) * (this.#onSegment(step, phase1) / 2 + this.#onSegment(step, phase2) / 2)
    }
    return cycles * cycle.areas[STEPS]! + this.#areaTo(phase2) - this.#areaTo(phase1)
  }

  /** Integral of the swing from the beginning of a cycle to a phase. */
  #areaTo(phase: number): number {
    const step = this.#grid.stepAt(phase)
    const { at, areas } = this.#cycleOf()
    const length = phase - this.#grid.offsets[step]!
    return areas[step]! + length * (at[step]! / 2 + this.#onSegment(step, phase) / 2)
  }

  #onSegment(step: number, phase: number): number {
    const { offsets } = this.#grid
    const { at, before } = this.#cycleOf()
    return valueBetween(phase, offsets[step]!, at[step]!, offsets[step + 1]!, before[step]!)
  }

  #cycleOf(): Cycle {
    this.#cycle ??= this.#makeCycle()
    return this.#cycle
  }

  #makeCycle(): Cycle {
    const { offsets } = this.#grid
    const at = new Float64Array(STEPS)
    const before = new Float64Array(STEPS)
    const areas = new Float64Array(STEPS + 1)
    const sum = new CompensatedSum()
    for (let step = 0; step < STEPS; step++) {
      at[step] = this.#swingAt(offsets[step]!)
      before[step] = this.#swingBefore(step + 1 === STEPS ? 0 : offsets[step + 1]!)
      sum.add((offsets[step + 1]! - offsets[step]!) * (at[step]! / 2 + before[step]! / 2))
      areas[step + 1] = sum.value
    }
    return { at, before, areas }
  }
}

/** One cycle of the swing as lines between raw points. */
interface Cycle {
  /** At the beginning of each step. */
  readonly at: Float64Array
  /** Limit from the left at the end of each step. */
  readonly before: Float64Array
  /** Integral from the beginning of the cycle to the beginning of each step, and at 100 of the whole cycle. */
  readonly areas: Float64Array
}
