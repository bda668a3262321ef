import { nearestName } from '../../errors/warnings.ts'
import { CommandError, usageError } from '../exit.ts'

/** Where the cells of a row go; found once, from the header. */
export type Layout = LongLayout | WideLayout

/** A row is a point: its tag, time, value and perhaps status. */
export interface LongLayout {
  readonly kind: 'long'
  readonly columns: number
  readonly time: number
  readonly tag: number
  readonly value: number
  readonly status: number | null
}

/** A row is an instant: a value for each of several tags. */
export interface WideLayout {
  readonly kind: 'wide'
  readonly columns: number
  readonly time: number
  readonly tags: readonly { readonly column: number; readonly header: string; readonly name: string }[]
}

export interface LayoutOptions {
  /** Null finds it from the header: long when it has a column for tags and one for values. */
  readonly format: 'long' | 'wide' | null
  readonly timeColumn: string | null
  /** Columns to take; null for all. Of the wide form only. */
  readonly columns: readonly string[] | null
  /** Tag names for columns (wide) or for names in the tag column (long). */
  readonly rename: ReadonlyMap<string, string>
}

const TIME_NAMES = ['timestamp', 'time', 'datetime', 'date_time', 'date time', 'date', 'ts']
const TAG_NAMES = ['tag', 'tagname', 'tag_name', 'tag name', 'address', 'qualifiedtagname']
const VALUE_NAMES = ['value', 'val']
const STATUS_NAMES = ['status', 'quality']

/** Whether a column of this name holds times. */
export function isTimeName(name: string): boolean {
  return TIME_NAMES.includes(name.trim().toLowerCase())
}

/**
 * Understands a header row.
 * @throws CommandError naming the column that is missing or there twice
 */
export function findLayout(header: readonly string[], options: LayoutOptions): Layout {
  const names = header.map((name) => name.trim())
  const find = (candidates: readonly string[]) => {
    const at = names.findIndex((name) => candidates.includes(name.toLowerCase()))
    return at < 0 ? null : at
  }
  const tag = find(TAG_NAMES)
  const value = find(VALUE_NAMES)
  const format = options.format ?? (tag !== null && value !== null ? 'long' : 'wide')
  const time =
    options.timeColumn === null ? find(TIME_NAMES) : columnNamed(options.timeColumn, names, '--time-column')
  if (format === 'wide') return wideLayout(names, time ?? 0, options)

  if (tag === null || value === null || time === null) {
    throw new CommandError(
      `The long form needs columns tag, timestamp and value, and the header has ${list(names)}: ` +
        'rename them, or import with --format wide',
    )
  }
  if (options.columns !== null)
    throw usageError('--columns is for the wide form, and this file has the long one')
  const layout = { columns: names.length, time, tag, value, status: find(STATUS_NAMES) }
  return { kind: 'long', ...layout }
}

function wideLayout(names: readonly string[], time: number, { columns, rename }: LayoutOptions): WideLayout {
  const wanted =
    columns === null ? null : new Set(columns.map((name) => columnNamed(name, names, '--columns')))
  for (const name of rename.keys()) columnNamed(name, names, '--rename')
  const tags = names.flatMap((header, column) => {
    if (column === time || (wanted !== null && !wanted.has(column))) return []
    return [{ column, header, name: rename.get(header) ?? header }]
  })
  if (tags.length === 0) {
    throw new CommandError(
      `The header has no column of values beside the time: ${list(names)}; is --separator right?`,
    )
  }
  const seen = new Set<string>()
  for (const { column, name } of tags) {
    if (name === '') {
      throw new CommandError(`Column ${column + 1} has no name: name it, or choose columns with --columns`)
    }
    if (seen.has(name))
      throw new CommandError(`Two columns are called ${name}: rename one in the file, or choose columns`)
    seen.add(name)
  }
  return { kind: 'wide', columns: names.length, time, tags }
}

function columnNamed(wanted: string, names: readonly string[], option: string): number {
  const at = names.indexOf(wanted)
  if (at >= 0) return at
  const near = nearestName(wanted, names)
  throw usageError(
    `${option}: there is no column ${wanted}${near === null ? '' : `; ${near} was meant?`} The file has ${list(names)}`,
  )
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => (name === '' ? '""' : name))
  return shown.join(', ') + (names.length > shown.length ? `, and ${names.length - shown.length} more` : '')
}
