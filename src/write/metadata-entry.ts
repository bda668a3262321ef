import { isObject } from '../errors/fields.ts'
import { type Issue, issue, showInput } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import type { MetadataPut } from '../historian/contract.ts'
import { isMetadataText, MAX_DESCRIPTION, MAX_UNITS, textExpected } from '../historian/metadata-text.ts'
import { MAX_STATE_NAME, MAX_STATES, parseStates, UNNAMED_STATES } from '../series/optional-metadata.ts'
import { fixedDurationUs } from '../time/duration.ts'

const METADATA_FIELDS = ['description', 'units', 'stepped', 'maxGap', 'states'] as const

const GAP_EXPECTED = 'a duration above 0 of a fixed length, such as 90s, 5min or 1d,'
const STATES_EXPECTED =
  `an object of 1 to ${MAX_STATES} distinct names (texts of 1 to ${MAX_STATE_NAME} characters, ` +
  `not "${UNNAMED_STATES}") by number, such as {"0": "Closed", "1": "Open"},`

export interface MetadataEntry {
  readonly metadata: MetadataPut
  readonly issues: readonly Issue[]
}

/**
 * Checks the metadata of one tag, each field for itself. Of `description`, `units` and `stepped` one that is left out
 * or null is null, null or false; `maxGap` and `states` stay left out where they are, and null clears them.
 */
export function readMetadataEntry(input: unknown, address: string, warnings: Warnings): MetadataEntry {
  const issues: Issue[] = []
  const reject = (field: string, value: unknown, expected: string) => {
    const shown = showInput(value)
    const values = { field, input: shown, address, expected }
    issues.push(issue('INVALID_METADATA', values, { tag: address, input: shown }))
  }
  if (!isObject(input)) {
    reject('metadata', input, 'an object with description, units and stepped')
    return { metadata: NO_METADATA, issues }
  }
  warnings.checkFields(input, METADATA_FIELDS, 'the metadata of a tag')
  const readText = (field: string, max: number): string | null => {
    const value = input[field] ?? null
    if (isMetadataText(value, max)) return value
    reject(field, value, textExpected(max))
    return null
  }
  const description = readText('description', MAX_DESCRIPTION)
  const units = readText('units', MAX_UNITS)
  const stepped = input.stepped ?? false
  if (typeof stepped !== 'boolean') reject('stepped', stepped, 'true or false')
  const { maxGap, states } = input
  const isGap = maxGap == null || (typeof maxGap === 'string' && fixedDurationUs(maxGap) !== null)
  if (!isGap) reject('maxGap', maxGap, GAP_EXPECTED)
  const parsed = states == null ? null : parseStates(states)
  if (states != null && parsed === null) reject('states', states, STATES_EXPECTED)
  const metadata = {
    description,
    units,
    stepped: stepped === true,
    ...(maxGap !== undefined && { maxGap: isGap ? (maxGap as string | null) : null }),
    ...(states !== undefined && { states: parsed }),
  }
  return { metadata, issues }
}

const NO_METADATA: MetadataPut = { description: null, units: null, stepped: false }
