import { type GapQuery, gapsOf } from '../../calc/consumers/gaps.ts'
import { keyOf, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import type { AnswerContext, Request, RequestSize, Result } from './request.ts'

/** GAPS: when a tag had no good raw point for longer than some time. */
export class GapsRequest implements Request {
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
    const { from, to, longerThanUs } = this.#query
    const gaps = await gapsOf(operator, this.#query, evaluation)
    const last = gaps.to.at(-1)
    const rest =
      gaps.more && last !== undefined ? { type: 'GAPS', fields: [from, to, longerThanUs, last] } : null
    return { kind: 'gaps', gaps, rest }
  }
}
