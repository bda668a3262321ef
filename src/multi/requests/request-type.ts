import type { Instant } from '../../time/instant.ts'
import {
  COUNT,
  type Detail,
  type Details,
  END_TIME,
  GOOD_FOR,
  needed,
  optional,
  TEXT,
  TIME,
} from './detail.ts'
import type { Request } from './request.ts'

/** What one request type takes: the parser, warnings, the OpenAPI document and docs/multi.md read it. */
interface RequestDefinition {
  /** As the interface writes it. */
  readonly name: string
  /** The details that it knows, in the order of the reference; others get a warning. */
  readonly details: readonly Detail[]
  /** Its result, as docs/multi.md says it. */
  readonly result: string
  /**
   * @param now      the call's
   * @param resumeAt of the cursor that it goes on from, whose details are among these; `null` for a first page
   */
  read(details: Details, now: Instant, resumeAt: Instant | null): Request
  /** The cursor that a request goes on from, `null` for a first page. Only of types that have pages. */
  cursorOf?(details: Details): string | null
}

export interface RequestType extends RequestDefinition {
  /** Names of the details. */
  readonly fields: readonly string[]
  /** Where they stand, as warnings and errors say it. */
  readonly place: string
}

export function requestType(definition: RequestDefinition): RequestType {
  const { name, details } = definition
  return { ...definition, fields: details.map((one) => one.name), place: `the details of ${name}` }
}

export const AT = needed('at', TIME, 'The instant that is asked about.')
export const FROM = needed('from', TIME, 'Begin of the range; before `to`.')
export const TO = optional('to', END_TIME, 'End of the range. The `now` of the call when left out.')
export const MAX_GAP = optional(
  'maxGap',
  GOOD_FOR,
  'How long good points of the stored tags are good for, in place of `maxGap` of their metadata.',
)

/** `FROM` of request types with pages. */
export const FROM_OR_CURSOR: Detail<Instant> = { ...FROM, unless: ['cursor'] }
export const CURSOR = optional(
  'cursor',
  TEXT,
  '`next` of the page before; the range, and all else that says where it goes on, then comes from it.',
)
export const MAX_INTERVALS = optional('maxIntervals', COUNT, 'So many of them are one page.', 1000)

/** Points of a request that does not say how many. */
export const DEFAULT_POINTS = 1000

export function readRange(details: Details): { readonly from: Instant; readonly to: Instant } {
  const from = details.get(FROM)
  const to = endOf(details)
  if (from >= to) throw details.invalid('from', 'a time before to')
  return { from, to }
}

/** The end of a range; `now` when it is left out. */
export function endOf(details: Details): Instant {
  return details.get(TO) ?? details.context.now
}
