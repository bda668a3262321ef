import { showInput } from '../../errors/tidemark-error.ts'
import { isTagName } from '../../grammar/address.ts'
import type { Instant } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import type { TimeZone } from '../../time/zone.ts'
import { parseNumber } from '../csv/number.ts'
import type { CsvRow } from '../csv/read.ts'
import type { TimeFormat } from '../csv/time-format.ts'
import { printable } from '../table.ts'
import type { Layout, LongLayout, WideLayout } from './layout.ts'

export interface RowOptions {
  readonly zone: TimeZone
  readonly now: Instant
  readonly timeFormat: TimeFormat | null
  readonly decimalComma: boolean
  /** Texts that mean no value, like an empty cell. */
  readonly emptyTexts: ReadonlySet<string>
  /** The full address of a tag name in the file; null when it makes none. */
  addressOf(name: string): string | null
}

/** What becomes of a row: its points, and what of it cannot be understood. */
export interface RowSink {
  point(address: string, at: Instant, value: number, isBad: boolean): void
  problem(line: number, problem: string): void
}

/** A reader of the rows of a layout. */
export function rowReader(layout: Layout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  return layout.kind === 'long' ? longReader(layout, options, sink) : wideReader(layout, options, sink)
}

function longReader(layout: LongLayout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  const addresses = new Map<string, string | null>()
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
    const at = parseCellTime(cells[layout.time]!, options)
    if (at === null) return sink.problem(line, timeProblem(cells[layout.time]!))
    const name = cells[layout.tag]!
    const address = addressOf(name)
    if (address === null) return sink.problem(line, `${show(name)} is no tag name`)
    const statusCell = layout.status === null ? '' : cells[layout.status]!
    const status = statusCell.trim().toUpperCase()
    if (status !== '' && status !== 'OK' && status !== 'BAD') {
      return sink.problem(line, `${show(statusCell)} is no status: OK or BAD is expected`)
    }
    const cell = cells[layout.value]!
    if (isEmpty(cell, options)) return
    const value = parseNumber(cell, options.decimalComma)
    if (value === null) return sink.problem(line, `${show(cell)} is no number`)
    sink.point(address, at, value, status === 'BAD')
  }
}

function wideReader(layout: WideLayout, options: RowOptions, sink: RowSink): (row: CsvRow) => void {
  const tags = layout.tags.map((tag) => ({ ...tag, address: options.addressOf(tag.name)! }))
  return ({ line, cells }) => {
    if (!hasAllCells(cells, layout.columns, line, sink)) return
    const at = parseCellTime(cells[layout.time]!, options)
    if (at === null) return sink.problem(line, timeProblem(cells[layout.time]!))
    for (const { column, address, header } of tags) {
      const cell = cells[column]!
      if (isEmpty(cell, options)) continue
      const value = parseNumber(cell, options.decimalComma)
      if (value === null) sink.problem(line, `column ${show(header)}: ${show(cell)} is no number`)
      else sink.point(address, at, value, false)
    }
  }
}

function hasAllCells(cells: readonly string[], columns: number, line: number, sink: RowSink): boolean {
  if (cells.length === columns) return true
  sink.problem(line, `the row has ${cells.length} cells, and the header ${columns}`)
  return false
}

function parseCellTime(cell: string, { timeFormat, zone, now }: RowOptions): Instant | null {
  const text = timeFormat === null ? cell.trim() : timeFormat(cell)
  return text === null ? null : parseTime(text, { zone, now })
}

function isEmpty(cell: string, { emptyTexts }: RowOptions): boolean {
  const text = cell.trim()
  return text === '' || (emptyTexts.size > 0 && emptyTexts.has(text))
}

function timeProblem(cell: string): string {
  return `${show(cell)} is no time`
}

function show(text: string): string {
  return `"${printable(showInput(text))}"`
}
