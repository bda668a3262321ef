// The alternatives start differently, so that a long run of digits is looked at once.
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Whether a text is written like a number (`5`, `-2`, `.5`, `1e3`), however large. */
export function looksLikeNumber(text: string): boolean {
  return NUMBER.test(text)
}

/**
 * Reads a decimal number as it may stand in a calculation or after `constants/`.
 * @returns `null` when it is no number, or too large for a double
 */
export function parseNumber(text: string): number | null {
  if (!looksLikeNumber(text)) return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}
