import { showInput } from '../../errors/tidemark-error.ts'
import { isTagName } from '../../grammar/address.ts'
import type { Instant } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import type { TimeZone } from '../../time/zone.ts'
import { fittingFormats } from '../csv/fitting-format.ts'
import { parseNumber } from '../csv/number.ts'
import type { CsvRow } from '../csv/read.ts'
import type { TimeFormat } from '../csv/time-format.ts'
import { printable } from '../table.ts'
import type { Layout, LongLayout, WideLayout } from './layout.ts'
import { inOrder } from './local-time.ts'

export interface RowOptions {
  readonly zone: TimeZone
  readonly now: Instant
  readonly timeFormat: TimeFormat | null
  readonly decimalComma: boolean
  /** Texts that mean no value, like an empty cell. */
  readonly emptyTexts: ReadonlySet<string>
  /** Texts that mean a BAD point. */
  readonly badTexts: ReadonlySet<string>
  /** The full address of a tag name in the file; null when it makes none. */
  addressOf(name: string): string | null
}

/** What becomes of a row: its points, and its cells that cannot be parsed. */
export interface RowSink {
  point(address: string, at: Instant, value: number, isBad: boolean): void
  problem(line: number, problem: string): void
  /** A row that begins with `#` and is no data. */
  comment(): void
  /** A time of the doubled hour of autumn of which the order of the rows does not tell which one is meant. */
  unclearTime(): void
}

/** A reader of the rows of a layout. */
export function rowReader(layout: Layout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  return layout.kind === 'long' ? longReader(layout, options, sink) : wideReader(layout, options, sink)
}

function longReader(layout: LongLayout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  const addresses = new Map<string, string | null>()
  const order = new RowOrder(options.zone, sink)
  const addressOf = (name: string) => {
    const known = addresses.get(name)
    if (known !== undefined) return known
    const address = isTagName(name) ? options.addressOf(name) : null
    // Names that are none could be as many as rows.
    if (address !== null) addresses.set(name, address)
    return address
  }
  return ({ line, cells }) => {
    if (!hasAllCells(cells, layout.columns, line, sink)) return
    const read = parseCellTime(cells[layout.time]!, options)
    if (read === null) return wrongTime(cells, layout.time, line, options, sink)
    const name = cells[layout.tag]!
    const address = addressOf(name)
    if (address === null) return sink.problem(line, `${show(name)} is no tag name`)
    const at = order.next(read, address)
    const statusCell = layout.status === null ? '' : cells[layout.status]!
    const status = statusCell.trim().toUpperCase()
    if (status !== '' && status !== 'OK' && status !== 'BAD') {
      return sink.problem(line, `${show(statusCell)} is no status: OK or BAD is expected`)
    }
    const cell = cells[layout.value]!
    if (isEmpty(cell, options)) return
    const isBad = options.badTexts.has(cell.trim())
    const value = isBad ? BAD_VALUE : parseNumber(cell, options.decimalComma)
    if (value === null) return sink.problem(line, `${show(cell)} is no number`)
    sink.point(address, at, value, isBad || status === 'BAD')
  }
}

function wideReader(layout: WideLayout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  const order = new RowOrder(options.zone, sink)
  const tags = layout.tags.map((tag) => ({ ...tag, address: options.addressOf(tag.name)! }))
  return ({ line, cells }) => {
    if (!hasAllCells(cells, layout.columns, line, sink)) return
    const read = parseCellTime(cells[layout.time]!, options)
    if (read === null) return wrongTime(cells, layout.time, line, options, sink)
    const at = order.next(read, '')
    for (const { column, address, header } of tags) {
      const cell = cells[column]!
      if (isEmpty(cell, options)) continue
      const isBad = options.badTexts.has(cell.trim())
      const value = isBad ? BAD_VALUE : parseNumber(cell, options.decimalComma)
      if (value === null) sink.problem(line, `column ${show(header)}: ${show(cell)} is no number`)
      else sink.point(address, at, value, isBad)
    }
  }
}

function hasAllCells(cells: readonly string[], columns: number, line: number, sink: RowSink): boolean {
  if (cells.length === columns) return true
  if (isComment(cells)) {
    sink.comment()
    return false
  }
  sink.problem(line, `the row has ${cells.length} cells, and the header ${columns}`)
  return false
}

interface CellTime {
  readonly text: string
  readonly at: Instant
}

function parseCellTime(cell: string, { timeFormat, zone, now }: RowOptions): CellTime | null {
  const text = timeFormat === null ? cell.trim() : timeFormat(cell)
  const at = text === null ? null : parseTime(text, { zone, now })
  return text === null || at === null ? null : { text, at }
}

/** Rows of a file go on in time, which tells the two occurrences of the doubled hour of autumn apart. */
class RowOrder {
  readonly #zone: TimeZone
  readonly #sink: RowSink
  readonly #last = new Map<string, Instant>()

  constructor(zone: TimeZone, sink: RowSink) {
    this.#zone = zone
    this.#sink = sink
  }

  /** @param address whose rows go on in time, '' for all of a wide file */
  next({ text, at }: CellTime, address: string): Instant {
    const found = inOrder(text, at, this.#last.get(address) ?? null, this.#zone)
    if (found.isUnclear) this.#sink.unclearTime()
    this.#last.set(address, found.at)
    return found.at
  }
}

/** A point is a number with a status; of a BAD one nobody reads the number. */
const BAD_VALUE = 0

/** Whether a row is a comment, if it is no data. */
function isComment(cells: readonly string[]): boolean {
  return cells[0]?.trimStart().startsWith('#') === true
}

function wrongTime(
  cells: readonly string[],
  column: number,
  line: number,
  options: RowOptions,
  sink: RowSink,
): void {
  if (isComment(cells)) sink.comment()
  else sink.problem(line, timeProblem(cells[column]!, options))
}

function isEmpty(cell: string, { emptyTexts }: RowOptions): boolean {
  const text = cell.trim()
  return text === '' || (emptyTexts.size > 0 && emptyTexts.has(text))
}

function timeProblem(cell: string, { zone }: RowOptions): string {
  const fitting = fittingFormats(cell.trim(), zone).map((pattern) => `'${pattern}'`)
  const hint = fitting.length === 0 ? '' : `; --time-format ${fitting.join(' or ')} would fit`
  return `${show(cell)} is no time${hint}`
}

function show(text: string): string {
  return `"${printable(showInput(text))}"`
}
