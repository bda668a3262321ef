import { type Instant, US_PER_SECOND } from './instant.ts'

/**
 * A time zone that is known to exist: an IANA zone or a fixed offset. Interned: the same zone is the same
 * object, so zones are compared with `===`.
 */
export interface TimeZone {
  /** As the IANA database writes it (`Europe/Oslo`), or `+02:00`. */
  readonly id: string
  /** Whether this is UTC itself or another name of it, and so printed as `Z`. */
  readonly isUtc: boolean
  /**
   * Instants at which the offset changes, ascending, from -Infinity on; span i goes from `starts[i]` to the
   * next start. Complete for every instant that a double can hold exactly (1684 to 2255). Not to be changed.
   */
  readonly starts: Float64Array
  /**
   * Offset of each span in microseconds, positive east of Greenwich; whole seconds, not always whole minutes.
   */
  readonly offsets: Float64Array
  /** Index of the span that holds an instant. Cheap for neighbouring instants, otherwise a binary search. */
  spanAt(at: number): number
  /** Local time minus UTC at an instant, in microseconds. */
  offsetUsAt(at: number): number
}

/** 26 hours: no zone is further from UTC than this, nor moves its clocks by more in one step. */
export const MAX_OFFSET_US = 26 * 3_600 * US_PER_SECOND

/**
 * Keyed by the id as Temporal writes it; bounded by the IANA database and the 2,879 offsets of whole minutes.
 */
const zones = new Map<string, TimeZone>()

/**
 * The zone of an id: IANA ids in any case and their old names, `UTC`, and offsets `+HH`, `+HHMM` or `+HH:MM`.
 * Null for anything else. Never throws.
 */
export function parseTimeZone(text: string): TimeZone | null {
  const known = zones.get(text)
  if (known !== undefined) return known
  // Temporal takes whole timestamps as zones too (`2020-01-01T00:00[Europe/Oslo]`), we do not.
  if (!/^(?:[A-Za-z][A-Za-z0-9._+/-]{0,63}|[+-]\d\d(?::?\d\d)?)$/.test(text)) return null
  let sample: Temporal.ZonedDateTime
  try {
    sample = new Temporal.ZonedDateTime(0n, text)
  } catch {
    return null
  }
  const id = sample.timeZoneId
  const zone = zones.get(id) ?? new Zone(id, sample.equals(new Temporal.ZonedDateTime(0n, 'UTC')))
  zones.set(id, zone)
  return zone
}

/** The zone that this machine is set to, UTC when it has none that is known. */
export function systemTimeZone(): TimeZone {
  return parseTimeZone(Temporal.Now.timeZoneId()) ?? UTC
}

class Zone implements TimeZone {
  readonly id: string
  readonly isUtc: boolean
  #spans: Spans | null = null
  #last = 0

  constructor(id: string, isUtc: boolean) {
    this.id = id
    this.isUtc = isUtc
  }

  get starts(): Float64Array {
    return this.#load().starts
  }

  get offsets(): Float64Array {
    return this.#load().offsets
  }

  spanAt(at: number): number {
    const { starts } = this.#load()
    const last = this.#last
    if (at >= starts[last]! && (last + 1 === starts.length || at < starts[last + 1]!)) return last
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (starts[middle]! <= at) low = middle
      else high = middle
    }
    this.#last = low
    return low
  }

  offsetUsAt(at: number): number {
    const index = this.spanAt(at)
    return this.#spans!.offsets[index]!
  }

  /** A zone costs some 10 kB and about half a millisecond, when it is first used. */
  #load(): Spans {
    this.#spans ??= loadSpans(this.id)
    return this.#spans
  }
}

interface Spans {
  readonly starts: Float64Array
  readonly offsets: Float64Array
}

function loadSpans(id: string): Spans {
  const last = BigInt(Number.MAX_SAFE_INTEGER) * 1000n
  let moment = new Temporal.ZonedDateTime(-last, id)
  const starts = [Number.NEGATIVE_INFINITY]
  const offsets = [offsetUsOf(moment)]
  for (;;) {
    const next = moment.getTimeZoneTransition('next')
    if (next === null || next.epochNanoseconds > last) break
    starts.push(Number(next.epochNanoseconds / 1000n))
    offsets.push(offsetUsOf(next))
    moment = next
  }
  return { starts: Float64Array.from(starts), offsets: Float64Array.from(offsets) }
}

function offsetUsOf(moment: Temporal.ZonedDateTime): number {
  return moment.offsetNanoseconds / 1000
}

/** Local time at an instant: microseconds since 1970-01-01T00:00 on the clocks of the zone. */
export function localAt(at: Instant, zone: TimeZone): number {
  return at + zone.offsetUsAt(at)
}

/** Coordinated universal time; down here because it needs the class above. */
export const UTC: TimeZone = parseTimeZone('UTC')!
