import { ascendingTags } from '../parts/ascending-tags.ts'
import { countPoints } from '../reads/point-reads.ts'
import type { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'
import type { LivePart } from './part-set.ts'
import { idsNow, TagNow } from './tag-now.ts'

/** What a check of a historian found. */
export interface HistorianCheck {
  readonly tags: number
  /** Blocks and small runs of all parts. */
  readonly blocks: number
  /** Points that are nowhere replaced or taken away. */
  readonly points: number
  /** Records of the log whose points are in memory and in no part. */
  readonly records: number
  /** Sentences, at most MOST_PROBLEMS; empty when all is well. */
  readonly problems: readonly string[]
  /** All problems, also those without a sentence. */
  readonly problemCount: number
}

const MOST_PROBLEMS = 100
const EVER = Number.MAX_SAFE_INTEGER

/**
 * Verifies every part of a state, and counts what there is: points that are nowhere replaced or taken away, of each tag
 * when it is come to.
 */
export async function checkStore(state: EngineState, snapshot: EngineSnapshot): Promise<HistorianCheck> {
  const { memtable, catalog } = state
  const { retention } = snapshot.set.version
  const tags = catalog.size
  const records = memtable.active.last - (memtable.immutable ?? memtable.active).first + 1
  const problems: string[] = []
  if (state.damage !== null) problems.push(state.damage.message)
  problems.push(...(await state.checkCatalog(snapshot.set.version)))
  const faulty = new Set<string>()
  let blocks = 0
  for (const { info, part, damage } of snapshot.set.parts) {
    if (damage !== null) problems.push(`part ${info.name}: ${damage.message}`)
    if (part === null || damage !== null) continue
    const found = await part.check(snapshot.signal)
    blocks += found.blocks
    problems.push(...found.problems.map((problem) => `part ${info.name}: ${problem}`))
    if (found.problems.length > 0) faulty.add(info.name)
    if (snapshot.isDue()) await snapshot.pause()
  }
  const isIntact = ({ info, damage }: LivePart) => damage === null && !faulty.has(info.name)
  const lists = snapshot.set.parts.flatMap((live) =>
    live.part === null || !isIntact(live) ? [] : [live.part.tags()],
  )
  let points = 0
  for (const tag of ascendingTags([...lists, idsNow(state)])) {
    // Looked at once more when it goes on: a read that waited, too, may have gone first, and begun to take more.
    for (let wait = state.catchingUp(); wait !== null; wait = state.catchingUp()) await wait
    const now = new TagNow(state, tag)
    try {
      if (now.isIn(isIntact))
        points += await pointsOf(now, state.watermarks.of(retention, state.catalog, tag), snapshot)
    } catch (error) {
      const { message } = error as Error
      if (problems.length === 0) problems.push(message)
    } finally {
      now.release()
    }
    if (snapshot.isDue()) await snapshot.pause()
  }
  return {
    tags,
    points,
    blocks,
    records,
    problems: problems.slice(0, MOST_PROBLEMS),
    problemCount: problems.length,
  }
}

function pointsOf(now: TagNow, watermark: number, snapshot: EngineSnapshot): Promise<number> {
  return countPoints(now.blocks(watermark), -EVER, EVER, Number.POSITIVE_INFINITY, snapshot)
}
