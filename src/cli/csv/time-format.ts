import { usageError } from '../exit.ts'

/** Turns a cell into a text that the time parser knows; null when the cell is not of the format. */
export type TimeFormat = (cell: string) => string | null

const FIELDS: Readonly<Record<string, { readonly name: string; readonly pattern: string }>> = {
  yyyy: { name: 'year', pattern: '\\d{4}' },
  yy: { name: 'shortYear', pattern: '\\d{2}' },
  MM: { name: 'month', pattern: '\\d{2}' },
  M: { name: 'month', pattern: '\\d{1,2}' },
  dd: { name: 'day', pattern: '\\d{2}' },
  d: { name: 'day', pattern: '\\d{1,2}' },
  HH: { name: 'hour', pattern: '\\d{2}' },
  H: { name: 'hour', pattern: '\\d{1,2}' },
  hh: { name: 'half', pattern: '\\d{2}' },
  h: { name: 'half', pattern: '\\d{1,2}' },
  mm: { name: 'minute', pattern: '\\d{2}' },
  m: { name: 'minute', pattern: '\\d{1,2}' },
  ss: { name: 'second', pattern: '\\d{2}' },
  s: { name: 'second', pattern: '\\d{1,2}' },
  S: { name: 'fraction', pattern: '\\d{1,9}' },
  a: { name: 'meridiem', pattern: '[AaPp]\\.?[Mm]\\.?' },
}

/**
 * Reads a pattern such as `dd.MM.yyyy HH:mm:ss`: yyyy or yy, MM or M, dd or d, HH or H (hh or h with `a` for am and
 * pm), mm, ss, any number of S for a fraction; everything else stands for itself. Times of day that are not there are
 * 0.
 * @throws CommandError for a pattern without year, month and day, or with a field twice
 */
export function parseTimeFormat(pattern: string): TimeFormat {
  const names = new Set<string>()
  let expression = ''
  for (const [token] of pattern.matchAll(/yyyy|yy|MM?|dd?|HH?|hh?|mm?|ss?|S+|a|./gsu)) {
    const field = FIELDS[token.startsWith('S') ? 'S' : token]
    if (field === undefined) {
      expression += RegExp.escape(token)
      continue
    }
    if (names.has(field.name)) throw usageError(`--time-format ${pattern}: ${token} stands there twice`)
    names.add(field.name)
    expression += `(?<${field.name}>${field.pattern})`
  }
  const isComplete = (names.has('year') || names.has('shortYear')) && names.has('month') && names.has('day')
  if (!isComplete || names.has('half') !== names.has('meridiem')) {
    throw usageError(
      `--time-format ${pattern}: year, month and day are expected, such as dd.MM.yyyy HH:mm:ss (hh with a for am and pm)`,
    )
  }
  const cells = new RegExp(`^${expression}$`)
  return (cell) => {
    const groups = cells.exec(cell.trim())?.groups
    return groups === undefined ? null : isoText(groups)
  }
}

function isoText(groups: Readonly<Record<string, string | undefined>>): string {
  const two = (text: string | undefined) => (text ?? '0').padStart(2, '0')
  // The two-digit years of POSIX: 69 to 99 are of the twentieth century.
  const year = groups.year ?? `${Number(groups.shortYear) >= 69 ? '19' : '20'}${groups.shortYear}`
  let hour = groups.hour
  if (groups.half !== undefined) {
    const isAfternoon = /^p/i.test(groups.meridiem ?? '')
    hour = String((Number(groups.half) % 12) + (isAfternoon ? 12 : 0))
  }
  const fraction = groups.fraction === undefined ? '' : `.${groups.fraction}`
  return `${year}-${two(groups.month)}-${two(groups.day)}T${two(hour)}:${two(groups.minute)}:${two(groups.second)}${fraction}`
}
