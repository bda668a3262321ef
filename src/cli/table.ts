/**
 * Rows as a text table: columns padded to their widest cell, two spaces between, nothing else, so that it reads well
 * and can be cut by other programs. Control characters of cells are shown as escapes: a tag name must not move the
 * cursor.
 * @param right indexes of the columns that stand to the right (numbers)
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number> = new Set(),
): string {
  const all = [header, ...rows].map((row) => row.map(printable))
  const widths = header.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), 0),
  )
  const lines = all.map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? ''
        const padding = ' '.repeat(width - widthOf(cell))
        return right.has(column) ? padding + cell : cell + padding
      })
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

/** A text without anything that a terminal would act upon. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    JSON.stringify(character).startsWith('"\\')
      ? JSON.stringify(character).slice(1, -1)
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Columns that a text takes, near enough: code points, not UTF-16 units. */
function widthOf(text: string): number {
  let width = 0
  for (const _ of text) width++
  return width
}
