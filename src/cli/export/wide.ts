import type { PageReader } from './pages.ts'

/** One instant of a wide file: the value of each tag, null where it has no good point. */
export interface WideRow {
  /** Epoch milliseconds. */
  readonly time: number
  readonly values: readonly (number | null)[]
}

interface Column {
  readonly address: string
  timestamps: readonly number[]
  values: readonly (number | null)[]
  statuses: readonly string[] | null
  at: number
  next: string | null
  isComplete: boolean
}

/**
 * Merges the raw points of several tags by time. Holds one page of each tag.
 * @param onBad called for each BAD point, which has no place in a wide file
 */
export async function* mergeByTime(
  reader: PageReader,
  addresses: readonly string[],
  onBad: () => void,
): AsyncGenerator<WideRow> {
  const columns: Column[] = addresses.map((address) => ({
    address,
    timestamps: [],
    values: [],
    statuses: null,
    at: 0,
    next: null,
    isComplete: false,
  }))
  while (true) {
    await refill(reader, columns)
    let time = Number.POSITIVE_INFINITY
    for (const { timestamps, at } of columns)
      time = Math.min(time, timestamps[at] ?? Number.POSITIVE_INFINITY)
    if (time === Number.POSITIVE_INFINITY) return
    const values = columns.map((column) => take(column, time, onBad))
    if (values.some((value) => value !== null)) yield { time, values }
  }
}

function take(column: Column, time: number, onBad: () => void): number | null {
  const { timestamps, values, statuses, at } = column
  if (timestamps[at] !== time) return null
  column.at++
  if (statuses?.[at] !== 'BAD') return values[at] ?? null
  onBad()
  return null
}

/** Fetches the next page of every column that has run out, as many as allowed in one call. */
async function refill(reader: PageReader, columns: readonly Column[]): Promise<void> {
  const empty = columns.filter((column) => !column.isComplete && column.at === column.timestamps.length)
  while (empty.length > 0) {
    const some = empty.splice(0, reader.tagsPerCall)
    const pages = await reader.read(some)
    for (const [index, column] of some.entries()) {
      const { timestamps, values, statuses, next } = pages[index]!
      Object.assign(column, { timestamps, values, statuses, next, at: 0, isComplete: next === null })
    }
  }
}
