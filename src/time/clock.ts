import type { Fields } from '../errors/fields.ts'
import { HintBudget } from '../errors/hint-budget.ts'
import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import type { Instant } from './instant.ts'
import { invalidTime } from './invalid-time.ts'
import { parseTime } from './parse.ts'
import { parseTimeZone, type TimeZone } from './zone.ts'

/** Reference time and zone of a request. */
export interface Clock {
  readonly now: Instant
  readonly zone: TimeZone
}

/**
 * `now` and `timeZone` of a body. Throws INVALID_TIME, INVALID_TIME_ZONE.
 * @param call wall-clock time and zone of a request that names none, or null
 */
export function readClock(
  fields: Fields,
  call: { readonly now: Instant; readonly defaultZone: TimeZone },
): Clock {
  const zone = readZone(fields.timeZone ?? null, call.defaultZone)
  const input = fields.now ?? null
  if (input === null) return { now: call.now, zone }
  const now = parseTime(input, { now: call.now, zone })
  if (now === null) throw invalidTime(input, 'now', { now: call.now, zone, hints: new HintBudget() })
  return { now, zone }
}

function readZone(input: unknown, preset: TimeZone): TimeZone {
  if (input === null) return preset
  const zone = typeof input === 'string' ? parseTimeZone(input) : null
  if (zone !== null) return zone
  const shown = showInput(input)
  throw new TidemarkError('INVALID_TIME_ZONE', { input: shown }, { place: { input: shown } })
}
