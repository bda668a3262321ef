import { instantOfCommonForm } from './common-forms.ts'
import { parseGrafana, parsePi } from './dialects.ts'
import { instantOfEpochNumber, instantOfEpochText } from './epoch.ts'
import { resolveExpression, type TimeExpression } from './expression.ts'
import type { Instant } from './instant.ts'
import { instantOfIso } from './iso.ts'
import { parseRelative } from './relative.ts'
import type { TimeZone } from './zone.ts'

export { type EpochUnit, numberToInstant } from './epoch.ts'

/** What a time is read against: relative times count from `now`, and `zone` is that of texts without one. */
export interface TimeContext {
  readonly now: Instant
  readonly zone: TimeZone
}

/** No accepted form is longer; keeps hostile input cheap. */
export const LONGEST_TIME = 200

/**
 * An instant from a JSON value in any form of the interface: ISO 8601, epoch as a number or a text of digits,
 * relative in words or in the dialects of Grafana and PI. Outer blanks do not matter. Never throws; the time
 * it takes is linear in the length of the text, which is bounded.
 * @returns null for anything else, and outside the accepted range
 * @source  docs/timestamps.md
 */
export function parseTime(input: unknown, context: TimeContext): Instant | null {
  if (typeof input === 'number') return instantOfEpochNumber(input)
  if (typeof input !== 'string' || input.length > LONGEST_TIME) return null
  const common = instantOfCommonForm(input)
  if (common !== null) return common
  const absolute = parseAbsoluteTime(input, context.zone)
  if (absolute !== null) return absolute
  const expression = parseTimeExpression(input)
  return expression === null ? null : resolveExpression(expression, context.now, context.zone)
}

/** The forms that need no `now`: ISO 8601 and epoch texts. Null as `parseTime`. */
export function parseAbsoluteTime(text: string, zone: TimeZone): Instant | null {
  if (text.length > LONGEST_TIME) return null
  const trimmed = text.trim()
  const epoch = instantOfEpochText(trimmed)
  return epoch === undefined ? instantOfIso(trimmed, zone) : epoch
}

/** The forms that need a `now`, as steps that can be resolved against many. Null for anything else. */
export function parseTimeExpression(text: string): TimeExpression | null {
  if (text.length > LONGEST_TIME) return null
  const trimmed = text.trim()
  return parseRelative(trimmed) ?? parseGrafana(trimmed) ?? parsePi(trimmed)
}
