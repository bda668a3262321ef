import { GapFinder, type GapPage, type GapSearch, NO_GAPS } from '../../series/gaps.ts'
import type { Instant } from '../../time/instant.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import { wholeRange } from './stream.ts'

/** Which gaps are looked for. */
export interface GapQuery extends GapSearch {
  readonly from: Instant
  readonly to: Instant
  /** Those that begin before this instant were given already; `null` for none. */
  readonly resumeAt: Instant | null
}

/** Gaps between the good raw points of an operator, the ends of the range included; constants have none. */
export async function gapsOf(operator: Operator, query: GapQuery, evaluation: Evaluation): Promise<GapPage> {
  if (operator.varies === 'nothing') return NO_GAPS
  const { to, resumeAt, longerThanUs, limit } = query
  const search = { from: resumeAt ?? query.from, to, longerThanUs, limit }
  if (operator.gaps !== undefined) return operator.gaps(search)
  const finder = new GapFinder(search)
  const stream = operator.chunks({ ...wholeRange(search.from, to, operator, evaluation), rawOnly: true })
  for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
    finder.add(chunk.raw)
    if (finder.isFull) break
    await evaluation.pause()
  }
  return finder.finish()
}
