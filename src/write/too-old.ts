import { issue } from '../errors/tidemark-error.ts'
import { formatAddress } from '../grammar/address.ts'
import type { Historian, TooOldPoints, WriteBatch } from '../historian/contract.ts'
import { formatInstant } from '../time/format.ts'
import { instantFromUs } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import type { IssueList } from './issues.ts'

/** `message` of a request of which only what is too old was not taken. */
export const OLD_POINTS_LEFT_OUT = 'All points written, but for those that are too old'

/** Adds an issue for each point that a historian did not take, in the order of the request. */
export function addTooOld(
  issues: IssueList,
  { name: historian }: Historian,
  { tags, offsets, points }: WriteBatch,
  { count, indexes, oldest }: TooOldPoints,
): void {
  let owner = 0
  for (let i = 0; i < count; i++) {
    issues.add(() => {
      const at = indexes[i]!
      while (offsets[owner + 1]! <= at) owner++
      const tag = tags[owner]!
      const text = (us: number) => formatInstant(instantFromUs(us), UTC)
      const values = { historian, tag, time: text(points.times[at]!), oldest: text(oldest[i]!) }
      return issue('POINT_TOO_OLD', values, {
        tag: formatAddress(historian, tag),
        index: at - offsets[owner]!,
      })
    })
  }
}
