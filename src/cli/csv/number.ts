/**
 * The number that a cell spells: digits with an optional sign, fraction and exponent; `true` and `false` are 1 and 0.
 * @param decimalComma whether a comma stands before the fraction; a point is then no part of a number
 * @returns null for anything else, what is too large for a double included
 */
export function parseNumber(cell: string, decimalComma: boolean): number | null {
  const text = cell.trim()
  const pattern = decimalComma
    ? /^[+-]?(?:\d+(?:,\d*)?|,\d+)(?:e[+-]?\d+)?$/i
    : /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
  if (pattern.test(text)) {
    const value = Number(decimalComma ? text.replace(',', '.') : text)
    return Number.isFinite(value) ? value : null
  }
  if (/^true$/i.test(text)) return 1
  return /^false$/i.test(text) ? 0 : null
}

/** A number as the shortest text that reads back as the same double. */
export function formatNumber(value: number, decimalComma: boolean): string {
  const text = Object.is(value, -0) ? '0' : String(value)
  return decimalComma ? text.replace('.', ',') : text
}
