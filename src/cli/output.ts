import type { Command } from 'commander'
import { formatNumber } from './csv/number.ts'
import { timeWriter } from './csv/time-pattern.ts'
import { csvLine } from './csv/write.ts'
import { usageError } from './exit.ts'
import { option, separatorCharacter } from './options.ts'
import { formatTable } from './table.ts'
import type { Terminal } from './terminal.ts'

/** How a command prints a table. */
export interface OutputOptions {
  readonly csv?: boolean
  readonly json?: boolean
  readonly timeFormat?: string
  readonly decimalComma?: boolean
  readonly separator?: string
}

/**
 * A cell: a text, a number, nothing, a time as answers have it, the value of a BAD point, which CSV leaves out, or a
 * length of time, which is `26:03:00` in a table and a number of seconds in CSV.
 */
export type Cell =
  | string
  | number
  | null
  | { readonly time: string }
  | { readonly bad: number }
  | { readonly seconds: number }

/** How the cells of one output are written. */
interface CellWriter {
  readonly time: (iso: string) => string
  readonly number: (value: number, isBad: boolean) => string
  readonly length: (seconds: number) => string
  readonly nothing: string
}

export interface Table {
  readonly header: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** Options of commands that print a table or a CSV file. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(option('--csv', 'print CSV, with all digits'))
    .addOption(option('--json', 'print the answer as it came'))
    .addOption(option('--time-format <pattern>', 'of the times, such as "dd.MM.yyyy HH:mm:ss"'))
    .addOption(option('--decimal-comma', 'print numbers as 3,14 (in CSV with a semicolon between cells)'))
    .addOption(
      option('--separator <character>', 'between cells of CSV, also tab (default: a comma)').argParser(
        separatorCharacter,
      ),
    )
}

/**
 * @param explain  whether the cost of a call is printed in place of its answer, as JSON
 * @param further  options of one command alone that JSON has no use for, by their flag
 * @throws CommandError for options that do not go together, before anything is asked
 */
export function checkOutput(
  { csv, json, timeFormat, decimalComma, separator }: OutputOptions,
  explain = false,
  further: Readonly<Record<string, unknown>> = {},
): void {
  if (timeFormat !== undefined) timeWriter(timeFormat)
  if (json === true || explain) {
    const by = explain
      ? '--explain, which prints the cost as JSON'
      : '--json, which prints the answer as it came'
    const ignored = { '--csv': csv, '--time-format': timeFormat, '--decimal-comma': decimalComma, ...further }
    for (const [flag, value] of Object.entries(ignored)) {
      if (value !== undefined) throw usageError(`${flag} would be ignored by ${by}`)
    }
  }
  if (separator !== undefined && csv !== true) throw usageError('--separator is for --csv')
  if (decimalComma === true && separator === ',')
    throw usageError('--decimal-comma: the comma cannot be the separator too')
}

/** Prints a table as text, with columns of numbers to the right, or as CSV. */
export function printTable(table: Table, options: OutputOptions, terminal: Terminal): void {
  const time = options.timeFormat === undefined ? (iso: string) => iso : timeWriter(options.timeFormat)
  if (options.csv === true) printCsv(table, time, options, terminal)
  else printText(table, time, options.decimalComma === true, terminal)
}

function printCsv(
  { header, rows }: Table,
  time: CellWriter['time'],
  options: OutputOptions,
  terminal: Terminal,
): void {
  const comma = options.decimalComma === true
  const separator = options.separator ?? (comma ? ';' : ',')
  const writer: CellWriter = {
    time,
    number: (value, isBad) => (isBad ? '' : formatNumber(value, comma)),
    length: (seconds) => formatNumber(seconds, comma),
    nothing: '',
  }
  terminal.out.write(csvLine([...header], separator))
  for (const row of rows) {
    const cells = row.map((cell) => showCell(cell, writer))
    terminal.out.write(csvLine(cells, separator))
  }
}

/** Twelve digits of a number in a table are more than any instrument has, and hide the last bits of the arithmetic. */
function printText(
  { header, rows }: Table,
  time: CellWriter['time'],
  comma: boolean,
  terminal: Terminal,
): void {
  const writer: CellWriter = {
    time,
    number: (value, isBad) => `${formatNumber(Number(value.toPrecision(12)), comma)}${isBad ? ' BAD' : ''}`,
    length: (seconds) => lengthText(seconds, comma),
    nothing: '-',
  }
  const cells = rows.map((row) => row.map((cell) => showCell(cell, writer)))
  const isNumeric = (column: number) => {
    const some = rows.map((row) => row[column]).filter((cell) => cell !== null && cell !== '')
    return some.every((cell) => typeof cell === 'number' || isBadValue(cell) || isLength(cell))
  }
  const right = new Set([...header.keys()].filter((column) => rows.length > 0 && isNumeric(column)))
  terminal.out.write(formatTable([...header], cells, right))
}

function showCell(cell: Cell, { time, number, length, nothing }: CellWriter): string {
  if (cell === null) return nothing
  if (typeof cell === 'number') return number(cell, false)
  if (typeof cell === 'string') return cell
  if (isBadValue(cell)) return number(cell.bad, true)
  return isLength(cell) ? length(cell.seconds) : time(cell.time)
}

function isBadValue(cell: Cell | undefined): cell is { readonly bad: number } {
  return typeof cell === 'object' && cell !== null && 'bad' in cell
}

function isLength(cell: Cell | undefined): cell is { readonly seconds: number } {
  return typeof cell === 'object' && cell !== null && 'seconds' in cell
}

/** Hours, minutes and seconds to the millisecond: `26:03:00`, `0:00:01.5`. */
function lengthText(seconds: number, comma: boolean): string {
  const ms = Math.round(seconds * 1000)
  const whole = Math.floor(ms / 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const fraction = formatNumber((ms % 1000) / 1000, comma).slice(1)
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`
}
