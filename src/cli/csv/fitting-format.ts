import type { Instant } from '../../time/instant.ts'
import { parseAbsoluteTime } from '../../time/parse.ts'
import type { TimeZone } from '../../time/zone.ts'
import { parseTimeFormat } from './time-format.ts'

const DATES = [
  'dd MM yyyy',
  'MM dd yyyy',
  'd M yyyy',
  'M d yyyy',
  'yyyy MM dd',
  'dd MM yy',
  'MM dd yy',
  'd M yy',
  'M d yy',
]
const CLOCKS = [
  '',
  ' HH:mm',
  ' HH:mm:ss',
  ' HH:mm:ss.SSS',
  ' H:mm',
  ' H:mm:ss',
  ' hh:mm a',
  ' h:mm a',
  ' hh:mm:ss a',
  ' h:mm:ss a',
  ' HH.mm',
  ' HH.mm.ss',
]
const COMPACT = [
  'yyyyMMddHHmmss',
  'yyyyMMdd HHmmss',
  'ddMMyyyy HHmmss',
  'yyyyMMdd HH:mm:ss',
  'yyyyMMdd HH:mm',
]
const LONGEST = 40
const MOST = 2

let formats: readonly { readonly pattern: string; readonly read: (cell: string) => string | null }[] | null =
  null

/** Patterns of `--time-format` that fit a time which cannot be read without, at most two; the more usual first. */
export function fittingFormats(cell: string, zone: TimeZone): readonly string[] {
  if (cell.length > LONGEST || !/\d/.test(cell)) return []
  formats ??= patterns().map((pattern) => ({ pattern, read: parseTimeFormat(pattern) }))
  const found: string[] = []
  const seen = new Set<Instant>()
  for (const { pattern, read } of formats) {
    const text = read(cell)
    const at = text === null ? null : parseAbsoluteTime(text, zone)
    // Of patterns that mean the same the first one is enough.
    if (at === null || seen.has(at)) continue
    seen.add(at)
    found.push(pattern)
    if (found.length === MOST) break
  }
  return found
}

function patterns(): readonly string[] {
  const separated = ['/', '.', '-'].flatMap((separator) =>
    DATES.map((date) => date.replaceAll(' ', separator)),
  )
  return [...separated.flatMap((date) => CLOCKS.map((clock) => date + clock)), ...COMPACT]
}
