import { inSlices } from './pace.ts'
import type { PlannedLabel } from './plan.ts'

/** Labels that are known as the heaviest. */
const HEAVIEST = 3

/** Something that a label needs, and how much it counts; what several labels need counts once. */
export type Item = readonly [key: unknown, weight: number]

/** How much of a limit each label of a call takes, where labels share some of what they need. */
export class LabelShares {
  /** Those that need most, the first above all. */
  readonly heaviest: readonly PlannedLabel[]
  readonly #total: number
  readonly #users: ReadonlyMap<unknown, number>
  readonly #itemsOf: (label: PlannedLabel) => ReadonlyMap<unknown, number>

  private constructor(
    heaviest: readonly PlannedLabel[],
    total: number,
    users: ReadonlyMap<unknown, number>,
    itemsOf: (label: PlannedLabel) => ReadonlyMap<unknown, number>,
  ) {
    this.heaviest = heaviest
    this.#total = total
    this.#users = users
    this.#itemsOf = itemsOf
  }

  static async of(
    labels: readonly PlannedLabel[],
    items: (label: PlannedLabel) => Iterable<Item>,
    pause: () => Promise<void>,
  ): Promise<LabelShares> {
    const itemsOf = (label: PlannedLabel) => new Map(items(label))
    const users = new Map<unknown, number>()
    let total = 0
    let heaviest: { readonly label: PlannedLabel; readonly own: number }[] = []
    await inSlices(labels, pause, (label) => {
      let own = 0
      for (const [key, weight] of itemsOf(label)) {
        const known = users.get(key) ?? 0
        users.set(key, known + 1)
        own += weight
        if (known === 0) total += weight
      }
      if (heaviest.length === HEAVIEST && own <= heaviest.at(-1)!.own) return
      heaviest = [...heaviest, { label, own }].sort((a, b) => b.own - a.own).slice(0, HEAVIEST)
    })
    return new LabelShares(
      heaviest.map(({ label }) => label),
      total,
      users,
      itemsOf,
    )
  }

  /** What one label needs, also where others need it too. */
  ownOf(label: PlannedLabel): number {
    let own = 0
    for (const weight of this.#itemsOf(label).values()) own += weight
    return own
  }

  /** What the call would need without these labels. */
  without(labels: readonly PlannedLabel[]): number {
    const left = new Map<unknown, number>()
    let total = this.#total
    for (const label of labels) {
      for (const [key, weight] of this.#itemsOf(label)) {
        const users = (left.get(key) ?? this.#users.get(key)!) - 1
        left.set(key, users)
        if (users === 0) total -= weight
      }
    }
    return total
  }
}
