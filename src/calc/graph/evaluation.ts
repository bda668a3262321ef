import { FIXED_LIMITS } from '../../errors/limits.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { TimeSlice } from '../../scheduling/time-slice.ts'
import { HeldMemory } from './held-memory.ts'
import type { PointSource } from './point-source.ts'

/**
 * Points of a page where a range is streamed: large enough that round trips do not count, small enough to hold many.
 */
const PAGE_POINTS = 20_000
/** Values combined for one chunk of a wide expression, about: a few milliseconds' worth. */
const CHUNK_VALUES = 500_000
/** The same of all levels of a deep one. */
const DEEP_CHUNK_VALUES = 300_000
/** Shorter pages cost more than they save; what an expression has twice counts twice in its leaves. */
const LEAST_DEEP_PAGE = 256
/** What a call may keep of evaluated columns for later reads of the same; 64 MB. */
const RETAINED_VALUES = 8_000_000
/** What one evaluation counts beside its values: its promises and entries. */
const CALL_VALUES = 32
/** The same of a step of values that a chunk in memory has. */
const STEP_VALUES = 4

/** A step of work that nobody knows the cost of begins so short, and gets no shorter than half of it, */
const FIRST_STEP = 8
/** no longer than this, since items that cost nothing can stand before others that cost 100 us each, */
const LONGEST_STEP = 256
/** and goes on so much longer while it takes less than this, or shorter beyond the other. */
const STEP_GROWTH = 4
const SHORT_STEP_MS = 1
const LONG_STEP_MS = 4

export interface EvaluationOptions {
  readonly source: PointSource
  /** Aborted when the call is over: long evaluations that fetch nothing end with it too. */
  readonly signal?: AbortSignal
  /** Points of a page when a tag is streamed; tests make it small. */
  readonly pagePoints?: number
  /** Values that a call may evaluate. */
  readonly maxEvaluated?: number
  /** Called once when the budget is used up; the error ends the call as a whole. */
  readonly onExhausted?: (error: TidemarkError) => void
}

/** What all evaluation of one call shares: where points come from, its budget, and when it lets others go on. */
export class Evaluation {
  readonly source: PointSource
  /** Of deep calculations. */
  readonly held: HeldMemory
  readonly #signal: AbortSignal | undefined
  readonly #pagePoints: number
  readonly #maxEvaluated: number
  readonly #onExhausted: (error: TidemarkError) => void
  /** Settled when all work `inTurn` so far is done. */
  #line: Promise<void> = Promise.resolve()
  /** Leaves times levels of the largest deep calculation. */
  #deepest = 0
  /** Whether any deep calculation is a total or of windows. */
  #isHeavy = false
  #evaluated = 0
  #retained = 0

  constructor(options: EvaluationOptions) {
    this.source = options.source
    this.#signal = options.signal
    this.#pagePoints = options.pagePoints ?? PAGE_POINTS
    this.#maxEvaluated = options.maxEvaluated ?? FIXED_LIMITS.evaluatedValues.limit
    this.#onExhausted = options.onExhausted ?? (() => {})
    this.held = new HeldMemory(options.signal, () => this.#exhaust())
  }

  /** Points of a page for an expression over so many leaves. */
  pagePoints(width: number): number {
    const most = Math.min(this.#pagePoints, CHUNK_VALUES / width)
    const ofDeep = this.#isHeavy ? DEEP_CHUNK_VALUES / this.#deepest : Number.POSITIVE_INFINITY
    return Math.max(2, Math.floor(Math.min(most, Math.max(ofDeep, LEAST_DEEP_PAGE))))
  }

  /**
   * Pages of a call with deep totals or windows are shorter: one waits on each level of each way down to a leaf, with
   * all that it is worked out from, and what is far inside, and does not know of the others, reads pages, too. Filters
   * inside each other hold little, and read what lies before and after each page.
   * @param places   leaves times levels of a deep calculation
   * @param isHeavy  it is a total or of windows
   */
  holds(places: number, isHeavy: boolean): void {
    this.#deepest = Math.max(this.#deepest, places)
    this.#isHeavy ||= isHeavy
  }

  /** Counts values before they are worked out. Throws LIMIT_EVALUATED_VALUES when the call's budget is used up. */
  charge(values: number): void {
    this.#count(values + CALL_VALUES)
  }

  /** The same of values of a chunk in memory, worked out in as many steps as the machine takes. */
  chargeStep(values: number): void {
    this.#count(values + STEP_VALUES)
  }

  #count(values: number): void {
    this.#evaluated += values
    if (this.#evaluated > this.#maxEvaluated) this.#exhaust()
  }

  #exhaust(): never {
    const error = new TidemarkError('LIMIT_EVALUATED_VALUES', { limit: this.#maxEvaluated })
    this.#onExhausted(error)
    throw error
  }

  /** Whether so many values may still be cached for later reads of the same; counts them. */
  retains(values: number): boolean {
    this.#retained += values + CALL_VALUES
    return this.#retained <= RETAINED_VALUES
  }

  /**
   * Cooperative scheduling: yields to the event loop when the slice that all long calls share in this tick is spent,
   * and ends the evaluation when its call is over. Without it an evaluation over constants, which never waits for a
   * historian, would keep its own deadline from passing.
   */
  async pause(): Promise<void> {
    const slice = TimeSlice.shared
    if (slice.isSpent()) await slice.next()
    this.#signal?.throwIfAborted()
  }

  /**
   * Work that begins together with a lot of other work, as that of hundreds of generated inputs of a sum does: one
   * piece after the other, in the order in which they came, and cooperatively.
   */
  inTurn<Result>(work: () => Result): Promise<Result> {
    const done = this.#line.then(async () => {
      await this.pause()
      return work()
    })
    this.#line = done.then(nothing, nothing)
    return done
  }

  /**
   * Works many items out, cooperatively, so many at a time as take a few milliseconds: what a value costs can depend on
   * all that is inside of an operator.
   * @param work gets the first item and the one after the last
   * @param pace of items that cost the same, to go on with
   */
  async inSteps(items: number, work: (from: number, to: number) => void, pace = new Pace()): Promise<void> {
    for (let from = 0; from < items; ) {
      const to = Math.min(from + pace.step, items)
      const began = performance.now()
      work(from, to)
      pace.took(to - from, performance.now() - began)
      from = to
      await this.pause()
    }
  }
}

/** How many items a step has. */
export class Pace {
  #step = FIRST_STEP

  get step(): number {
    return this.#step
  }

  /** Follows from how long a step took. */
  took(items: number, ms: number): void {
    if (ms > LONG_STEP_MS) this.#step = Math.max(FIRST_STEP / 2, Math.floor(items / STEP_GROWTH))
    else if (ms < SHORT_STEP_MS && items === this.#step)
      this.#step = Math.min(LONGEST_STEP, this.#step * STEP_GROWTH)
  }
}

function nothing(): void {}
