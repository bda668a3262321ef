import { type GapQuery, gapsOf } from '../../calc/consumers/gaps.ts'
import { keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { lengthDetail, type Rest, rangeDetails } from '../cursor.ts'
import { LENGTH, needed } from './detail.ts'
import type { AnswerContext, Request, RequestSize, Result } from './request.ts'
import { CURSOR, FROM_OR_CURSOR, MAX_GAP, MAX_INTERVALS, readRange, requestType, TO } from './request-type.ts'

/** GAPS: when a tag had no good raw point for longer than some time. */
class GapsRequest implements Request {
  readonly range: Request['range']
  readonly #query: GapQuery

  constructor(query: GapQuery) {
    this.range = { from: query.from, to: query.to }
    this.#query = query
  }

  /** From its start, where a cursor goes on, too: what a cursor holds cannot be changed. */
  within(range: Request['range']): Request {
    return new GapsRequest({ ...this.#query, ...range, resumeAt: null })
  }

  size(): RequestSize {
    return { points: this.#query.limit, windows: 0 }
  }

  needs(): readonly Need[] {
    const { from, to, resumeAt } = this.#query
    const start = resumeAt ?? from
    const { limit: count, longerThanUs } = this.#query
    if (start >= to) return []
    return [{ kind: 'gaps', from: start, to, count, key: keyOf(longerThanUs), longerThanUs }]
  }

  async answer(operator: Operator, { evaluation }: AnswerContext): Promise<Result> {
    const gaps = await gapsOf(operator, this.#query, evaluation)
    const last = gaps.to.at(-1)
    return { kind: 'gaps', gaps, rest: gaps.more && last !== undefined ? this.#restFrom(last) : null }
  }

  #restFrom(resumeAt: number): Rest {
    const longerThan = lengthDetail(this.#query.longerThanUs)
    return { type: 'GAPS', details: { ...rangeDetails(this.range), longerThan }, resumeAt }
  }
}

const LONGER_THAN = needed('longerThan', LENGTH, 'Shorter gaps, and those just as long, are left out.', [
  'cursor',
])

export const gaps = requestType({
  name: 'GAPS',
  details: [FROM_OR_CURSOR, TO, LONGER_THAN, MAX_INTERVALS, CURSOR, MAX_GAP],
  result: '`intervals`: [when nothing good came](#gaps), with `next` beside `results`',
  read: (details, _now, resumeAt) => {
    const range = readRange(details)
    const longerThanUs = details.get(LONGER_THAN)
    return new GapsRequest({ ...range, limit: details.get(MAX_INTERVALS), longerThanUs, resumeAt })
  },
  cursorOf: (details) => details.get(CURSOR),
})
