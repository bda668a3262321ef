/** Wall-clock fields of an instant in a zone. */
export interface Wall {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
  }
  return format
}

export function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

export function isZone(name: string): boolean {
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** How far the zone's wall clock is ahead of UTC, in milliseconds. Answers are kept for each quarter of an hour. */
export function offsetAt(ms: number, zone: string): number {
  if (zone === 'UTC') return 0
  const quarter = Math.floor(ms / 900_000)
  let known = offsets.get(zone)
  if (known === undefined || known.size > 5_000) {
    known = new Map()
    offsets.set(zone, known)
  }
  let offset = known.get(quarter)
  if (offset === undefined) {
    offset = computeOffset(quarter * 900_000, zone)
    known.set(quarter, offset)
  }
  return offset
}

/** Zones change at whole quarters of an hour. */
const offsets = new Map<string, Map<number, number>>()

function computeOffset(ms: number, zone: string): number {
  const field: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(ms)) field[type] = Number(value)
  const wall = Date.UTC(field.year!, field.month! - 1, field.day!, field.hour!, field.minute!, field.second!)
  return wall - Math.floor(ms / 1000) * 1000
}

export function wallOf(ms: number, zone: string): Wall {
  const date = new Date(ms + offsetAt(ms, zone))
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
}

/** The instant of a wall-clock time: the first of two, and moved on by the gap where a clock change leaves it out. */
export function instantOf(wallMs: number, zone: string): number {
  const guesses = [wallMs - offsetAt(wallMs - 86_400_000, zone), wallMs - offsetAt(wallMs + 86_400_000, zone)]
  for (const guess of guesses.sort((a, b) => a - b)) {
    if (guess + offsetAt(guess, zone) === wallMs) return guess
  }
  return wallMs - offsetAt(wallMs - 86_400_000, zone)
}

/** The same wall-clock time some days earlier or later. */
export function addDays(ms: number, days: number, zone: string): number {
  return instantOf(ms + offsetAt(ms, zone) + days * 86_400_000, zone)
}

const two = (value: number) => String(value).padStart(2, '0')

/** `2026-01-15` */
export function dateText(ms: number, zone: string): string {
  const { year, month, day } = wallOf(ms, zone)
  return `${year}-${two(month)}-${two(day)}`
}

/** `12:00`, with seconds and milliseconds as far as asked for. */
export function clockText(ms: number, zone: string, digits: 'minute' | 'second' | 'ms'): string {
  const { hour, minute, second } = wallOf(ms, zone)
  const clock = `${two(hour)}:${two(minute)}`
  if (digits === 'minute') return clock
  const fraction = digits === 'ms' ? `.${String(mod(Math.floor(ms), 1000)).padStart(3, '0')}` : ''
  return `${clock}:${two(second)}${fraction}`
}

/** `+02:00`; `Z` for UTC. */
export function offsetText(ms: number, zone: string): string {
  if (zone === 'UTC') return 'Z'
  const minutes = Math.round(offsetAt(ms, zone) / 60_000)
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** An instant that can be read back: `2026-01-15T12:00:00.000+01:00`. */
export function isoText(ms: number, zone: string): string {
  return `${dateText(ms, zone)}T${clockText(ms, zone, 'ms')}${offsetText(ms, zone)}`
}

/** For tables: `2026-01-15 12:00:00`, with milliseconds where there are some, and the offset in a doubled hour. */
export function timeText(ms: number, zone: string): string {
  const digits = mod(Math.round(ms * 1000), 1_000_000) === 0 ? 'second' : 'ms'
  const doubled = isDoubled(ms, zone) ? ` ${offsetText(ms, zone)}` : ''
  return `${dateText(ms, zone)} ${clockText(ms, zone, digits)}${doubled}`
}

/** Whether the wall clock shows this time twice. */
export function isDoubled(ms: number, zone: string): boolean {
  const here = offsetAt(ms, zone)
  const others = [offsetAt(ms - 7_200_000, zone), offsetAt(ms + 7_200_000, zone)]
  return others.some((other) => {
    const twin = ms + here - other
    return other !== here && offsetAt(twin, zone) === other
  })
}

/** `8 h`, `1 d 2 h`, `350 ms`: the two largest units. */
export function durationText(ms: number): string {
  const size = Math.abs(ms)
  const sign = ms < 0 ? '-' : ''
  if (size < 1000) return `${sign}${Math.round(size)} ms`
  const units: readonly [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ]
  const at = units.findIndex(([unit]) => size >= unit)
  const [unit, name] = units[at]!
  const whole = Math.floor(size / unit)
  const next = units[at + 1]
  if (next === undefined) return `${sign}${Number((size / 1000).toFixed(3))} s`
  const rest = Math.round((size - whole * unit) / next[0])
  if (rest === 0) return `${sign}${whole} ${name}`
  // Rounded up to a whole unit, which may be one of the next.
  if (rest * next[0] === unit) return sign + durationText((whole + 1) * unit)
  return `${sign}${whole} ${name} ${rest} ${next[1]}`
}

function mod(a: number, b: number): number {
  return ((a % b) + b) % b
}
