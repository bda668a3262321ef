import type { TestContext } from 'node:test'
import { MERGE_LIMITS, type MergeResult, type PlanMerge } from '../merge/merge.ts'
import type { PartInfo } from '../parts/part.ts'
import { Merging, type MergingParts } from './merging.ts'
import { PartsAside } from './parts-aside.ts'

export const IDLE_MS = 20_000
export const RECLAIM_MS = 300_000

/** Parts of a version, and what is known of merging besides. */
export interface Bench {
  readonly merging: Merging
  readonly parts: PartInfo[]
  /** What was merged, by its names; in order. */
  readonly merged: string[]
  /** Ends the merge under way. */
  finish(): Promise<void>
}

export function merging(
  t: TestContext,
  names: readonly string[],
  plans: Pick<MergingParts, 'plan' | 'planIdle' | 'planThorough'>,
  thoroughEveryMs: number,
  others: Partial<MergingParts> = {},
): Bench {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const parts = names.map(partOf)
  const merged: string[] = []
  let under: PromiseWithResolvers<MergeResult> | null = null
  const set = () => ({
    version: { parts: parts.slice() },
    parts: parts.map((info) => ({ info, part: {}, damage: null })),
    tombstonesWithout: () => [],
  })
  const made = new Merging({
    ...plans,
    parts: {
      get current() {
        return set()
      },
      hold() {},
      release() {},
    },
    reserve: { isSpent: false },
    roomBytes: () => Number.POSITIVE_INFINITY,
    makeRoom: async () => false,
    versions: {
      checkOwner() {},
      edit: async ({ add, remove }: { add: readonly PartInfo[]; remove: readonly string[] }) => {
        const kept = parts.filter(({ name }) => !remove.includes(name))
        parts.splice(0, parts.length, ...kept, ...add)
      },
    },
    merger: {
      merge: ({ inputs }: { inputs: readonly PartInfo[] }) => {
        merged.push(inputs.map(({ name }) => name).join('+'))
        under = Promise.withResolvers()
        return under.promise
      },
      close: async () => {},
    },
    idleAfterMs: IDLE_MS,
    thoroughEveryMs,
    reclaimAfterMs: RECLAIM_MS,
    limits: MERGE_LIMITS,
    expiry: { keep() {}, isDue: () => false, ofParts: async () => null },
    trouble: { over() {} },
    aside: new PartsAside('plant', 1, null),
    folder: '',
    namePrefix: '',
    takeNumbers: () => 1,
    ...others,
  } as unknown as MergingParts)
  return {
    merging: made,
    parts,
    merged,
    async finish() {
      await turns()
      under!.resolve({ added: [partOf(`(${merged.at(-1)})`)] })
      await turns()
    },
  }
}

export const partOf = (name: string) => ({ name, points: 1, bytes: 1 }) as PartInfo

/** What does not wait for a merge or a timer is done then. */
export const turns = () => new Promise((resolve) => setImmediate(resolve))

export const nothing: PlanMerge = () => null
/** Takes the first two parts. */
export const two: PlanMerge = (parts) => (parts.length < 2 ? null : { inputs: parts.slice(0, 2) })
