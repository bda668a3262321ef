/** Longest texts in UTF-16 units: a search answers with up to 10,000 tags, and each has both. */
export const MAX_DESCRIPTION = 10_000
export const MAX_UNITS = 512

/** What a description or unit must be, for messages. */
export function textExpected(max: number): string {
  return `null or a text of at most ${max} characters without NUL and lone surrogates`
}

/** Whether every kind of historian gives a text back as it was: databases take neither NUL nor half characters. */
export function isMetadataText(value: unknown, max: number): value is string | null {
  if (value === null) return true
  return typeof value === 'string' && value.length <= max && value.isWellFormed() && !value.includes('\0')
}
