/** The points of a body in the bytes that are committed, and how many they are. */
export interface Filled {
  readonly record: Uint8Array
  readonly points: number
}

interface Row {
  readonly timestamp?: unknown
  readonly value?: unknown
  readonly status?: unknown
}

interface Columns {
  readonly timestamps?: unknown
  readonly values?: unknown
  readonly statuses?: unknown
}

/**
 * The least that a server has to do with the points of a write: sees that timestamps and values are numbers and
 * statuses OK or BAD, and puts them into columns, one after the other in the memory of one record: times, values,
 * statuses, and where each tag's points end. Names are not looked at.
 * @returns null when anything is of another type
 */
export function fillRecord(body: unknown): Filled | null {
  const { points } = (body ?? {}) as { readonly points?: unknown }
  if (typeof points !== 'object' || points === null) return null
  const tags = Object.values(points)
  let count = 0
  for (const tag of tags) count += lengthOf(tag)
  const bytes = new ArrayBuffer(count * 17 + 7 + tags.length * 4)
  const times = new Float64Array(bytes, 0, count)
  const values = new Float64Array(bytes, count * 8, count)
  const statuses = new Uint8Array(bytes, count * 16, count)
  const ends = new Uint32Array(bytes, (count * 17 + 3) & ~3, tags.length)
  let at = 0
  for (let index = 0; index < tags.length; index++) {
    const tag: unknown = tags[index]
    if (Array.isArray(tag)) {
      for (let i = 0; i < tag.length; i++) {
        const row = tag[i] as Row
        const { timestamp, value, status } = row
        if (typeof timestamp !== 'number' || typeof value !== 'number') return null
        times[at] = timestamp
        values[at] = value
        if (status !== undefined && status !== 'OK') {
          if (status !== 'BAD') return null
          statuses[at] = 1
        }
        at++
      }
    } else {
      const { timestamps, values: given, statuses: marks } = tag as Columns
      if (!Array.isArray(timestamps) || !Array.isArray(given) || given.length !== timestamps.length)
        return null
      if (marks !== undefined && !(Array.isArray(marks) && marks.length === timestamps.length)) return null
      for (let i = 0; i < timestamps.length; i++) {
        const timestamp: unknown = timestamps[i]
        const value: unknown = given[i]
        if (typeof timestamp !== 'number' || typeof value !== 'number') return null
        times[at] = timestamp
        values[at] = value
        if (marks !== undefined && marks[i] !== 'OK') {
          if (marks[i] !== 'BAD') return null
          statuses[at] = 1
        }
        at++
      }
    }
    ends[index] = at
  }
  return { record: new Uint8Array(bytes), points: count }
}

function lengthOf(tag: unknown): number {
  if (Array.isArray(tag)) return tag.length
  const timestamps = (tag as Columns | null)?.timestamps
  return Array.isArray(timestamps) ? timestamps.length : 0
}
