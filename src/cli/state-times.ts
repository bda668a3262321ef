/**
 * The aggregate STATES in a cell of a table: `Closed 1200 s, 2 visits; Open 5400 s, 1 visit`, without states that did
 * not occur.
 * @returns `null` for anything else
 */
export function stateTimesText(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const texts: string[] = []
  for (const [name, time] of Object.entries(value)) {
    const { seconds, visits } = time as { readonly seconds: number; readonly visits: number }
    if (visits > 0) texts.push(`${name} ${seconds} s, ${visits} ${visits === 1 ? 'visit' : 'visits'}`)
  }
  return texts.join('; ')
}
