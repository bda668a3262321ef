import { Parameters } from './parameters.ts'
import type { Row, Session } from './session.ts'

/** Rows fetched at a time: each is a column of numbers for many windows. */
const ROWS_PER_FETCH = 16

interface Part {
  readonly select: string
  readonly columns: number
  readonly take: (row: Row) => void
}

/** Selections of packed columns in one statement, so that all of them see the same state of the tables. */
export class Union {
  readonly parameters = new Parameters()
  readonly #parts: Part[] = []

  /** @param columns texts that a row of the selection has after its first column, an integer */
  add(select: string, columns: number, take: (row: Row) => void): void {
    this.#parts.push({ select, columns, take })
  }

  /** Has each row taken by its selection's own `take`. */
  async run(session: Session): Promise<void> {
    if (this.#parts.length === 0) return
    const most = Math.max(...this.#parts.map(({ columns }) => columns))
    const text = this.#parts
      .map(
        ({ select, columns }, index) =>
          `SELECT ${index}, x.*${', NULL'.repeat(most - columns)} FROM (${select}) AS x`,
      )
      .join('\nUNION ALL\n')
    for await (const rows of session.stream(text, this.parameters.values, ROWS_PER_FETCH)) {
      for (const [index, ...row] of rows) this.#parts[Number(index)]!.take(row)
    }
  }
}
