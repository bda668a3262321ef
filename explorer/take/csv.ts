/** A cell that a spreadsheet takes as text: never as a formula, whatever it begins with. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text
  return /[",\n\r]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A negative number begins with a minus and is no formula. */
function isNumber(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)
}

/** One line for each row, as RFC 4180 has them. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** The same rows for pasting into a spreadsheet. */
export function tabLine(cells: readonly string[]): string {
  const clean = (text: string) =>
    (/^[=+\-@]/.test(text) && !isNumber(text) ? `'${text}` : text).replace(/[\t\r\n]/g, ' ')
  return `${cells.map(clean).join('\t')}\n`
}
