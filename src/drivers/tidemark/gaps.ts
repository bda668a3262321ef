import { isObject } from '../../errors/fields.ts'
import type { CallContext, GapsQuery } from '../../historian/contract.ts'
import { type GapPage, NO_GAPS } from '../../series/gaps.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask } from './labels.ts'
import { durationText, endText, timeText, usOfMs } from './wire.ts'

/** Times without a good point, by GAPS. @param most gaps of one tag that a call may ask for */
export async function readGaps(
  instance: Instance,
  queries: readonly GapsQuery[],
  addressOf: (tag: string) => string,
  most: number,
  context: CallContext,
): Promise<readonly GapPage[]> {
  const labels = queries.map(({ tag, from, to, longerThanUs, limit }) => ({
    type: 'GAPS',
    tag: addressOf(tag),
    details: {
      from: timeText(from),
      to: endText(to),
      longerThan: durationText(longerThanUs),
      maxIntervals: Math.min(limit, most),
    },
  }))
  const answers = await ask(instance, labels, { kind: 'read' }, context)
  return answers.map((answer, i) => {
    if (answer !== null) return gapPage(instance.historian, answer)
    const { from, to, longerThanUs } = queries[i]!
    // A tag that does not exist has no point anywhere.
    if (to - from <= longerThanUs) return NO_GAPS
    return { from: Float64Array.of(from), to: Float64Array.of(to), bad: Uint8Array.of(0), more: false }
  })
}

function gapPage(historian: string, { intervals, next }: Readonly<Record<string, unknown>>): GapPage {
  if (isObject(intervals) && intervals.unit === 'ms') {
    const { from, to, kind } = intervals
    if (areNumbers(from) && areNumbers(to) && Array.isArray(kind) && from.length === to.length) {
      return {
        from: Float64Array.from(from, usOfMs),
        to: Float64Array.from(to, usOfMs),
        bad: Uint8Array.from(kind, (one) => Number(one === 'bad')),
        more: next !== undefined,
      }
    }
  }
  throw notUnderstood(historian, 'its gaps are none')
}

function areNumbers(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.every((one) => typeof one === 'number')
}
