/** A row as a line of CSV: cells that hold the separator, a quote or a line end are quoted. Ends with a line feed. */
export function csvLine(cells: readonly string[], separator: string): string {
  return `${cells.map((cell) => quoted(cell, separator)).join(separator)}\n`
}

function quoted(cell: string, separator: string): string {
  if (!cell.includes(separator) && !/["\r\n]|^\s|\s$/.test(cell)) return cell
  return `"${cell.replaceAll('"', '""')}"`
}
