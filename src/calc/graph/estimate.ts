import { belowFloor, movedPlace } from './near.ts'
import { nearSink } from './near-sink.ts'
import type { Need, NeedSink, PlannedRead } from './need.ts'
import { NeedSet } from './need-set.ts'
import type { Operator } from './operator.ts'

/** Needs handed on in one estimate before others may go on. */
const STEP_NEEDS = 1_024

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
 */
export async function estimate(
  root: Operator,
  needs: readonly Need[],
  pause: () => Promise<void>,
): Promise<Estimate> {
  const fold = new Fold(root, needs)
  while (!fold.run(STEP_NEEDS)) await pause()
  return fold
}

/** The same at once, for labels of few operators. `null` when it takes longer. */
export function estimateNow(root: Operator, needs: readonly Need[], steps = STEP_NEEDS): Estimate | null {
  const fold = new Fold(root, needs)
  return fold.run(steps) ? fold : null
}

class Fold implements NeedSink, Estimate {
  readonly #reads: PlannedRead[] = []
  readonly generated = new Map<string, number>()
  /** Needs of operators that were not visited yet. */
  readonly #needs = new Map<number, NeedSet>()
  /** Operators below the root, those above before those below. */
  readonly #order: readonly Operator[]
  #next = 0

  constructor(root: Operator, needs: readonly Need[]) {
    this.#order = operatorsBelow(root)
    for (const need of needs) this.need(root, need)
  }

  /** In the order in which tags stand in the expression. */
  get reads(): readonly PlannedRead[] {
    return this.#reads.toReversed()
  }

  /** Visits operators until so many needs were handed on; true when all were visited. */
  run(steps: number): boolean {
    for (let left = steps; this.#next < this.#order.length && left > 0; this.#next++) {
      const operator = this.#order[this.#next]!
      const needs = this.#needs.get(operator.id)
      if (needs === undefined) continue
      for (const need of needs.all(operator.readsPagesAnew !== true)) {
        this.#handOn(operator, need)
        left--
      }
      this.#needs.delete(operator.id)
    }
    return this.#next === this.#order.length
  }

  /** What is needed at a place that is found leads to needs at that place, which inputs may know as another time. */
  #handOn(operator: Operator, need: Need): void {
    const { near } = need
    const { timeBelow } = operator
    if (near === undefined) operator.needs(need, this)
    else {
      const moved = timeBelow === undefined ? near : movedPlace(near, timeBelow)
      const below = moved.floor === undefined ? moved : belowFloor(moved, (at) => operator.readFrom(at))
      operator.needs(below === near ? need : { ...need, near: below }, nearSink(this, below))
    }
  }

  need({ id }: { readonly id: number }, need: Need): void {
    this.#needs.getOrInsertComputed(id, () => new NeedSet()).add(need)
  }

  read(read: PlannedRead): void {
    this.#reads.push(read)
  }

  generate(address: string, points: number): void {
    this.generated.set(address, (this.generated.get(address) ?? 0) + points)
  }
}

/** All operators that a root is made of, itself included, by falling position. */
export function operatorsBelow(root: Operator): readonly Operator[] {
  const found = new Map<number, Operator>([[root.id, root]])
  const visit = [root]
  for (let operator = visit.pop(); operator !== undefined; operator = visit.pop()) {
    for (const input of operator.inputs) {
      if (found.has(input.id)) continue
      found.set(input.id, input)
      visit.push(input)
    }
  }
  return [...found.values()].sort((a, b) => b.id - a.id)
}
