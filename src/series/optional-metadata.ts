import { fixedDurationUs, LONGEST_DURATION } from '../time/duration.ts'

/**
 * Names of a tag's values, by number: keys as JavaScript writes the number (`0`, `-1`, `0.5`), texts distinct, at least
 * one. Only `parseStates` makes one, so that a key is never anything else than a number.
 */
export type TagStates = Readonly<Record<string, string>>

/** The metadata fields that a tag may do without; one that is not set is left out. */
export interface OptionalMetadata {
  /** How long a good value is good for where no other one follows: a duration text of a fixed length above 0. */
  readonly maxGap?: string
  /** A tag that has it is stepped. */
  readonly states?: TagStates
}

/** What becomes of these fields: one that is left out stays as it is, null clears it. */
export interface OptionalMetadataChange {
  readonly maxGap?: string | null
  readonly states?: TagStates | null
}

/**
 * Most states of a tag, and the longest name of one in UTF-16 units: a read point carries the name, a look-up all of
 * them.
 */
export const MAX_STATES = 200
export const MAX_STATE_NAME = 100
/** The aggregate STATES counts values without a name under it. */
export const UNNAMED_STATES = 'other'

const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/

/** States from an object of names by number; `null` for anything else, also for one without a name. Never throws. */
export function parseStates(input: unknown): TagStates | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  const entries = Object.entries(input)
  if (entries.length === 0 || entries.length > MAX_STATES) return null
  const byValue = new Map<number, string>()
  const names = new Set<string>()
  for (const [key, name] of entries) {
    // The sum makes a zero of a negative one.
    const value = NUMBER.test(key) ? Number(key) + 0 : Number.NaN
    if (!Number.isFinite(value) || byValue.has(value) || !isStateName(name) || names.has(name)) return null
    byValue.set(value, name)
    names.add(name)
  }
  const sorted = [...byValue].sort(([a], [b]) => a - b)
  return Object.fromEntries(sorted.map(([value, name]) => [String(value), name]))
}

function isStateName(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || name === UNNAMED_STATES) return false
  return name.length <= MAX_STATE_NAME && name.isWellFormed() && !name.includes('\0')
}

/** The fields of an object that has others, too. */
export function optionalMetadata({ maxGap, states }: OptionalMetadata): OptionalMetadata {
  return { ...(maxGap !== undefined && { maxGap }), ...(states !== undefined && { states }) }
}

/** The fields as they are after a change; `before` is empty for a new tag. */
export function changeOptionalMetadata(
  before: OptionalMetadata,
  change: OptionalMetadataChange,
): OptionalMetadata {
  const maxGap = change.maxGap === undefined ? before.maxGap : change.maxGap
  const states = change.states === undefined ? before.states : change.states
  return { ...(maxGap != null && { maxGap }), ...(states != null && { states }) }
}

/** States as a historian's own text; '' for none. */
export function encodeStates(states: TagStates | null | undefined): string {
  return states == null ? '' : JSON.stringify(states)
}

/** The fields from texts of a historian; null, empty or unreadable ones are not set. */
export function decodeOptionalMetadata(maxGap: string | null, states: string | null): OptionalMetadata {
  if (!maxGap && !states) return NOTHING
  const parsed = states ? decodeStates(states) : null
  return { ...(maxGap && isGap(maxGap) && { maxGap }), ...(parsed !== null && { states: parsed }) }
}

/**
 * Texts that were decoded a short while ago: many tags of a plant have the same ones, and calls look them up anew.
 */
const decoded = new Map<string, TagStates | null>()
const gaps = new Map<string, boolean>()
const MOST_DECODED = 1_000

/** Whether a text is a duration of a fixed length. */
function isGap(text: string): boolean {
  let is = gaps.get(text)
  if (is === undefined) {
    is = fixedDurationUs(text) !== null
    if (gaps.size === MOST_DECODED) gaps.clear()
    // A longer one is none, and not worth keeping.
    if (text.length <= LONGEST_DURATION) gaps.set(text, is)
  }
  return is
}

function decodeStates(text: string): TagStates | null {
  let states = decoded.get(text)
  if (states === undefined) {
    states = parseText(text)
    if (decoded.size === MOST_DECODED) decoded.clear()
    decoded.set(text, states)
  }
  return states
}

function parseText(text: string): TagStates | null {
  try {
    return parseStates(JSON.parse(text))
  } catch {
    return null
  }
}

const NOTHING: OptionalMetadata = {}
