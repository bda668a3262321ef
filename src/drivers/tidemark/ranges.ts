import type { CallContext, RangeQuery } from '../../historian/contract.ts'
import { concatColumns, NO_POINTS, type PointColumns } from '../../series/columns.ts'
import type { MissingSpan, RangeResult } from '../../series/reads.ts'
import { END_INSTANT, MIN_INSTANT } from '../../time/instant.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { comparedDetail, endText, readColumns, readMissing, timeText } from './wire.ts'

/**
 * Details of a request for [from, to), whose ends need not be instants that the interface accepts; null when it is
 * empty.
 */
export function rangeDetails(from: number, to: number): Readonly<Record<string, unknown>> | null {
  const first = Math.max(from, MIN_INSTANT)
  if (first >= Math.min(to, END_INSTANT)) return null
  return { from: timeText(first), to: endText(to) }
}

/** A range of which not everything has come yet. */
interface Open {
  readonly index: number
  readonly request: LabelRequest
  readonly pages: PointColumns[]
  readonly missing: MissingSpan[]
  left: number
  cursor: string | null
}

/**
 * Reads ranges page by page, the pages of all of them in one call, until each is at its end or its limit.
 * @param addressOf  address there of a tag here
 * @param pagePoints points that one call may ask for, over all ranges
 */
export async function readRanges(
  instance: Instance,
  queries: readonly RangeQuery[],
  addressOf: (tag: string) => string,
  pagePoints: number,
  context: CallContext,
): Promise<readonly RangeResult[]> {
  const results: RangeResult[] = queries.map(() => ({ points: NO_POINTS, more: false }))
  let open: Open[] = []
  queries.forEach(({ tag, from, to, order, limit, partial, compared }, index) => {
    const details = rangeDetails(from, to)
    if (details === null) return
    const request = {
      type: 'RAW_POINTS',
      tag: addressOf(tag),
      details: { ...details, order, ...comparedDetail(compared) },
      ...(partial === true && { partial }),
    }
    open.push({ index, request, pages: [], missing: [], left: limit, cursor: null })
  })
  while (open.length > 0) {
    const now = open.slice(0, pagePoints)
    const share = Math.max(1, Math.floor(pagePoints / now.length))
    const requests = now.map(({ request, cursor, left }) => ({
      ...request,
      details: {
        ...request.details,
        maxPoints: Math.min(left, share),
        ...(cursor !== null && { cursor }),
      },
    }))
    const answers = await ask(instance, requests, { kind: 'read' }, context)
    const unfinished = now.filter((range, i) => {
      const answer = answers[i]
      // A tag that does not exist, or was deleted between two pages, has no more points.
      const page = answer === null ? NO_POINTS : readColumns(answer!.dataPoints)
      if (page === null) throw notUnderstood(instance.historian, 'its points are no columns')
      range.pages.push(page)
      const missing = readMissing(answer?.missing)
      if (missing === null) throw notUnderstood(instance.historian, 'what its points lack are no ranges')
      range.missing.push(...missing)
      range.left -= page.times.length
      const next = page.times.length > 0 ? answer?.next : null
      range.cursor = typeof next === 'string' ? next : null
      if (range.cursor !== null && range.left > 0) return true
      const read = { points: concatColumns(range.pages), more: range.cursor !== null }
      const lacks = range.missing.toSorted((a, b) => a.from - b.from)
      results[range.index] = lacks.length === 0 ? read : { ...read, missing: lacks }
      return false
    })
    open = [...unfinished, ...open.slice(now.length)]
  }
  return results
}
