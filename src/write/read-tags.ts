import type { HistorianView } from '../historian/registry.ts'
import type { TagPoints } from '../historian/write-batch.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { concatColumns, type PointColumns } from '../series/columns.ts'
import { IssueList, MOST_LISTED } from './issues.ts'
import { type PointsContext, pointsReader } from './points.ts'
import type { TagInput } from './tag-inputs.ts'
import { findWritable, type Target } from './target.ts'

/** Points that are read between two checks of the time slice. */
const POINTS_PER_SLICE = 500

/** A tag of the request with its points and their issues. */
export interface ReadTag {
  readonly target: Target
  readonly issues: IssueList
  points(): TagPoints['points']
}

/**
 * Reads the points of all tags into columns.
 * @returns `null` when an address comes twice: the last one counts, and only who has the whole body knows it
 */
export async function readTags(
  inputs: Iterable<TagInput | undefined>,
  historians: HistorianView,
  context: Omit<PointsContext, 'issues'>,
  scheduler: CooperativeScheduler,
): Promise<readonly ReadTag[] | null> {
  const tags: ReadTag[] = []
  const seen = new Set<string>()
  let listed = 0
  let last: TagColumns | null = null
  let untilLook = POINTS_PER_SLICE
  for (const given of inputs) {
    if (given === undefined) {
      await scheduler.yieldIfDue()
      continue
    }
    const { address, input, first } = given
    if (last === null || first === 0) {
      if (last !== null) listed += last.issues.listed
      if (seen.has(address)) return null
      seen.add(address)
      // The first thousand of all are shown: what comes after them is only counted.
      last = new TagColumns(findWritable(address, historians), Math.max(0, MOST_LISTED - listed))
      tags.push(last)
    }
    const { target, issues } = last
    untilLook--
    // Without a name there is nothing that a sentence about one of its points could say.
    if (target.kind !== 'malformed') {
      const reader = pointsReader(input, target.name, { ...context, issues }, first)
      for (let start = 0; start < reader.length; start += POINTS_PER_SLICE) {
        const end = Math.min(start + POINTS_PER_SLICE, reader.length)
        reader.read(start, end)
        untilLook -= end - start
        if (untilLook > 0) continue
        untilLook = POINTS_PER_SLICE
        await scheduler.yieldIfDue()
      }
      last.add(reader.columns)
    }
    if (untilLook > 0) continue
    untilLook = POINTS_PER_SLICE
    await scheduler.yieldIfDue()
  }
  return tags
}

class TagColumns implements ReadTag {
  readonly target: Target
  readonly issues: IssueList
  readonly #parts: PointColumns[] = []

  constructor(target: Target, mostListed: number) {
    this.target = target
    this.issues = new IssueList(mostListed)
  }

  add(part: PointColumns): void {
    // One issue refuses the request: the points of an invalid one need not be kept.
    if (this.issues.count === 0) this.#parts.push(part)
    else this.#parts.length = 0
  }

  points(): PointColumns {
    return this.#parts.length === 1 ? this.#parts[0]! : concatColumns(this.#parts)
  }
}
