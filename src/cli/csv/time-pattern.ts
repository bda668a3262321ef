import { usageError } from '../exit.ts'

/** The parts of a time as answers have it: local, with the offset of its zone. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?/
const TOKENS = /yyyy|yy|MM?|dd?|HH?|hh?|mm?|ss?|S+|a|./gsu

/**
 * Writes times by a pattern such as `dd.MM.yyyy HH:mm:ss`, the one that `--time-format` of import reads: yyyy or yy, MM
 * or M, dd or d, HH or H (hh or h with `a` for AM and PM), mm, ss, an S for each digit of the fraction, which is cut;
 * everything else stands for itself.
 * @returns takes an ISO 8601 text with its offset, as answers have it, and writes its local time
 * @throws CommandError for a pattern without year, month and day
 */
export function timeWriter(pattern: string): (iso: string) => string {
  const tokens = [...pattern.matchAll(TOKENS)].map(([token]) => token)
  for (const [field, name] of [
    ['y', 'year'],
    ['M', 'month'],
    ['d', 'day'],
  ] as const) {
    if (!tokens.some((token) => token.startsWith(field))) {
      throw usageError(`--time-format ${pattern}: the ${name} is missing, as in dd.MM.yyyy HH:mm:ss`)
    }
  }
  return (iso) => {
    const parts = ISO.exec(iso)
    return parts === null ? iso : tokens.map((token) => written(token, parts)).join('')
  }
}

function written(token: string, parts: RegExpExecArray): string {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = ''] = parts
  const half = String(Number(hour) % 12 || 12)
  switch (token) {
    case 'yyyy':
      return year
    case 'yy':
      return year.slice(2)
    case 'MM':
      return month
    case 'dd':
      return day
    case 'HH':
      return hour
    case 'hh':
      return half.padStart(2, '0')
    case 'mm':
      return minute
    case 'ss':
      return second
    case 'M':
      return String(Number(month))
    case 'd':
      return String(Number(day))
    case 'H':
      return String(Number(hour))
    case 'h':
      return half
    case 'm':
      return String(Number(minute))
    case 's':
      return String(Number(second))
    case 'a':
      return Number(hour) < 12 ? 'AM' : 'PM'
    default:
      return token.startsWith('S') ? fraction.padEnd(token.length, '0').slice(0, token.length) : token
  }
}
