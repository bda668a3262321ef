import { STATUS_BAD, STATUS_OK, type Status } from '../../series/columns.ts'
import type { Cell } from './answer-lines.ts'
import type { InfluxConfig, StatusMark } from './config.ts'
import { lineKey, lineText } from './line-protocol.ts'
import { quoteIdentifier, quoteString } from './quote.ts'

/** What a point's status is in InfluxDB: a field with values for good and BAD, or nothing. */
export class PointStatus {
  /** `null` where every point is good. */
  readonly field: string | null
  /** Condition of InfluxQL that holds for points whose field says good; not for those without the field. */
  readonly isGood: string
  /** Condition for points that have the field and are BAD. */
  readonly isBad: string
  readonly #good: ReadonlySet<Cell>
  readonly #lines: readonly [ok: string, bad: string]

  constructor({ statusField, good, bad }: Pick<InfluxConfig, 'statusField' | 'good' | 'bad'>) {
    this.field = statusField
    this.#good = new Set<Cell>(good)
    const field = quoteIdentifier(statusField ?? '')
    this.isGood = `(${good.map((mark) => `${field} = ${literal(mark)}`).join(' OR ')})`
    this.isBad = `(${good.map((mark) => `${field} != ${literal(mark)}`).join(' AND ')})`
    const line = (mark: StatusMark) =>
      statusField === null ? '' : `,${lineKey(statusField)}=${lineMark(mark)}`
    this.#lines = [line(good[0]!), line(bad)]
  }

  /** Of a point whose field holds this; null is a point without the field. */
  of(cell: Cell): Status {
    return cell === null || this.#good.has(cell) ? STATUS_OK : STATUS_BAD
  }

  /** The field in a line, with a comma in front; empty where there is none. */
  inLine(status: number): string {
    return this.#lines[status === STATUS_BAD ? 1 : 0]
  }
}

function literal(mark: StatusMark): string {
  return typeof mark === 'string' ? quoteString(mark) : String(mark)
}

function lineMark(mark: StatusMark): string {
  if (typeof mark === 'string') return lineText(mark)
  return typeof mark === 'number' ? `${mark}i` : String(mark)
}
