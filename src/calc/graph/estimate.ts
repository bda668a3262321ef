import { type Need, type NeedSink, nearSink, type PlannedRead } from './need.ts'
import { NeedSet } from './need-set.ts'
import type { Operator } from './operator.ts'

/** Needs handed on in one estimate before others may go on: a need of a filter leads to a dozen needs of its input. */
const STEP_NEEDS = 128

/** What evaluation of a label will read. */
export interface Estimate {
  readonly reads: readonly PlannedRead[]
  /** Raw points that will be generated, by address. */
  readonly generated: ReadonlyMap<string, number>
}

/**
 * Cost estimator: one fold over the graph below an operator, from the root to the leaves. Each operator is visited
 * once, when all needs of those above it are known, so the cost of an estimate is linear in operators and needs.
 * Fetches nothing.
 * @param pause called now and then, so that others may go on
 * @returns at once for labels of few operators
 */
export function estimate(
  root: Operator,
  needs: readonly Need[],
  pause: () => Promise<void>,
): Estimate | Promise<Estimate> {
  const fold = new Fold(root, needs)
  return fold.run(STEP_NEEDS) ? fold : completed(fold, pause)
}

async function completed(fold: Fold, pause: () => Promise<void>): Promise<Estimate> {
  do await pause()
  while (!fold.run(STEP_NEEDS))
  return fold
}

/** The same at once, however long it takes: for tests. */
export function estimateNow(root: Operator, needs: readonly Need[]): Estimate {
  const fold = new Fold(root, needs)
  fold.run(Number.POSITIVE_INFINITY)
  return fold
}

const NOTHING: Estimate['generated'] = new Map()

class Fold implements NeedSink, Estimate {
  readonly #reads: PlannedRead[] = []
  #generated: Map<string, number> | null = null
  /** Needs of operators that were not visited yet. */
  readonly #needs = new Map<number, NeedSet>()
  /** Operators below the root, those above before those below. */
  readonly #order: readonly Operator[]
  #next = 0
  /** Needs of the next operator that were not handed on yet; `null` where it was not begun. */
  #visiting: Generator<Need, void> | null = null

  constructor(root: Operator, needs: readonly Need[]) {
    this.#order = operatorsBelow([root]).toSorted((a, b) => b.id - a.id)
    for (const need of needs) this.need(root, need)
  }

  get generated(): ReadonlyMap<string, number> {
    return this.#generated ?? NOTHING
  }

  /** In the order in which tags stand in the expression. */
  get reads(): readonly PlannedRead[] {
    return this.#reads.toReversed()
  }

  /** Hands on so many needs, also of an operator with more of them; true when all operators were visited. */
  run(steps: number): boolean {
    for (let left = steps; left > 0; ) {
      const operator = this.#order[this.#next]
      if (operator === undefined) return true
      const needs = this.#visiting ?? this.#needs.get(operator.id)?.all()
      const next = needs?.next()
      if (needs === undefined || next!.done === true) {
        this.#visiting = null
        this.#needs.delete(operator.id)
        this.#next++
        continue
      }
      this.#visiting = needs
      this.#handOn(operator, next!.value)
      left--
    }
    return this.#next === this.#order.length
  }

  /** What is needed at a place that is found leads to needs at that place, which inputs may know as another time. */
  #handOn(operator: Operator, need: Need): void {
    const { near } = need
    const below = near === undefined ? near : operator.placeBelow(near)
    const sink = below === undefined ? this : nearSink(this, below)
    operator.needs(below === undefined || below === near ? need : { ...need, near: below }, sink)
  }

  need({ id }: { readonly id: number }, need: Need): void {
    this.#needs.getOrInsertComputed(id, () => new NeedSet()).add(need)
  }

  read(read: PlannedRead): void {
    this.#reads.push(read)
  }

  generate(address: string, points: number): void {
    this.#generated ??= new Map()
    this.#generated.set(address, (this.#generated.get(address) ?? 0) + points)
  }
}

/** Operators below some and these themselves, each once. */
export function operatorsBelow(roots: readonly Operator[]): readonly Operator[] {
  const seen = new Set(roots)
  // A set gives what is added while it is gone through, too.
  for (const { inputs } of seen) for (const input of inputs) seen.add(input)
  return [...seen]
}
