import { intactPoints } from '../../calc/consumers/raw-points.ts'
import type { Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { NO_POINTS, reverseColumns } from '../../series/columns.ts'
import { type Instant, MIN_INSTANT } from '../../time/instant.ts'
import { type AnswerContext, leftOutOf, type Request, type RequestSize, type Result } from './request.ts'

/** RAW_POINTS with `last`: the newest points before an instant, however old they are. Never goes on with a cursor. */
export class LastPointsRequest implements Request {
  readonly range: Request['range']
  readonly #count: number
  readonly #order: 'asc' | 'desc'

  /** @param order of the answer */
  constructor(to: Instant, count: number, order: 'asc' | 'desc') {
    this.range = { from: MIN_INSTANT, to }
    this.#count = count
    this.#order = order
  }

  size(): RequestSize {
    return { points: this.#count, windows: 0 }
  }

  needs(): readonly Need[] {
    const { from, to } = this.range
    return from < to ? [{ kind: 'raw', from, to, order: 'desc', count: this.#count, isPage: true }] : []
  }

  async answer(operator: Operator, { evaluation }: AnswerContext): Promise<Result> {
    const { from, to } = this.range
    if (from >= to) return { kind: 'raw', points: NO_POINTS, rest: null }
    const range = { from, to, order: 'desc', limit: this.#count } as const
    const page = await intactPoints(operator, range, evaluation)
    const points = this.#order === 'desc' ? page.points : reverseColumns(page.points)
    return { kind: 'raw', points, rest: null, ...leftOutOf(page) }
  }
}
