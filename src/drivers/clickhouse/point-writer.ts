import type { WriteBatch } from '../../historian/contract.ts'
import { makeChange, type RemoteChange } from '../../historian/remote/change.ts'
import { pointsOfTag, type TagPoints } from '../../historian/write-batch.ts'
import { concatColumns, makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { GroupedInserts } from './grouped-inserts.ts'
import { bytesOf, encodeBlock, encodeInts } from './native.ts'
import { DELETED } from './point-table.ts'
import type { QuerySettings } from './server-settings.ts'
import type { Servers } from './servers.ts'
import type { Tables } from './tables.ts'
import { tagId } from './tag-id.ts'
import type { VersionClock } from './version-clock.ts'
import { MARK_TAG, markTimes } from './version-marks.ts'

/** How inserts are made. */
export interface InsertOptions {
  readonly settings: QuerySettings
  /** Whether a refusal of the server means that nothing of the insert was taken. */
  readonly isWhole: boolean
  /** Whether the table has partitions. */
  readonly hasPartitions: boolean
  readonly timeoutSeconds: number
}

/** Times that an insert is tried while its error is transient, the pauses between them growing to 2 s. */
export const INSERT_ATTEMPTS = 10

/**
 * Writes points. An insert may be sent again however it failed: the rows and their version are the same, and of equal
 * rows one counts.
 */
export class PointWriter {
  readonly #historian: string
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #clock: VersionClock
  readonly #options: InsertOptions
  readonly #inserts: GroupedInserts<WriteBatch>

  constructor(
    historian: string,
    servers: Servers,
    tables: Tables,
    clock: VersionClock,
    options: InsertOptions,
  ) {
    this.#historian = historian
    this.#servers = servers
    this.#tables = tables
    this.#clock = clock
    this.#options = options
    this.#inserts = new GroupedInserts(historian, (batches) => this.#insert(batches))
  }

  /** Resolves when the server has acknowledged the points. */
  async write(batch: WriteBatch, change: RemoteChange): Promise<void> {
    const rows = batch.points.times.length
    if (rows > 0) await this.#inserts.request(change, batch, rows)
  }

  /** Does other work on the table of points while no insert is under way. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#inserts.alone(work)
  }

  /** Resolves when nothing is under way any more. */
  close(): Promise<void> {
    return this.#inserts.close()
  }

  async #insert(batches: readonly WriteBatch[]): Promise<void> {
    const { settings, isWhole, hasPartitions, timeoutSeconds } = this.#options
    const rows = rowsOf(batches)
    const marks = markTimes(rows.points.times, this.#clock.process, hasPartitions)
    const body = encodeRows(rows, marks, this.#clock.take())
    // One block: it becomes visible as a whole.
    const block = { max_insert_block_size: Math.max(1_048_576, rows.points.times.length + marks.length) }
    const { signal } = new AbortController()
    await makeChange({ historian: this.#historian, seconds: timeoutSeconds, signal }, (change) =>
      this.#servers.insert(
        change,
        'write',
        `INSERT INTO ${this.#tables.points} (tag, time, value, status, version) FORMAT Native`,
        { settings: { ...settings, ...block }, body, isWhole, attempts: INSERT_ATTEMPTS },
      ),
    )
  }
}

interface Rows {
  /** Two 32-bit words for each row. */
  readonly ids: Uint32Array
  readonly points: PointColumns
}

/**
 * The rows of requests, tag by tag, each tag's in time order and one per time, the last one given: so that no two rows
 * of an insert are versions of one point, and all can have the same version.
 */
export function rowsOf(batches: readonly WriteBatch[]): Rows {
  const parts = new Map<string, PointColumns | PointColumns[]>()
  for (const batch of batches) {
    for (let i = 0; i < batch.tags.length; i++) {
      if (batch.offsets[i] === batch.offsets[i + 1]) continue
      const tag = batch.tags[i]!
      const points = pointsOfTag(batch, i)
      const before = parts.get(tag)
      if (before === undefined) parts.set(tag, points)
      else if (Array.isArray(before)) before.push(points)
      else parts.set(tag, [before, points])
    }
  }
  const entries: TagPoints[] = []
  let count = 0
  for (const [tag, given] of parts) {
    const points = lastOfEach(Array.isArray(given) ? concatColumns(given) : given)
    entries.push({ tag, points })
    count += points.times.length
  }
  const points = makeColumns(count)
  const ids = new Uint32Array(count * 2)
  let offset = 0
  for (const { tag, points: own } of entries) {
    points.times.set(own.times, offset)
    points.values.set(own.values, offset)
    points.statuses.set(own.statuses, offset)
    const { low, high } = tagId(tag)
    for (let i = 0; i < own.times.length; i++, offset++) {
      ids[2 * offset] = low
      ids[2 * offset + 1] = high
    }
  }
  return { ids, points }
}

/** Points in time order, the last one given of each time; the argument itself where it is so already. */
function lastOfEach(points: PointColumns): PointColumns {
  const { times, values, statuses } = points
  let at = 1
  while (at < times.length && times[at]! > times[at - 1]!) at++
  if (at >= times.length) return points
  const order = Uint32Array.from(times, (_, i) => i).sort((a, b) => times[a]! - times[b]! || a - b)
  const kept = makeColumns(times.length)
  let length = 0
  for (let i = 0; i < order.length; i++) {
    const index = order[i]!
    if (i + 1 < order.length && times[order[i + 1]!] === times[index]) continue
    kept.times[length] = times[index]!
    kept.values[length] = values[index]!
    kept.statuses[length] = statuses[index]!
    length++
  }
  return sliceColumns(kept, 0, length)
}

/** The rows and, behind them, the marks of their version. */
function encodeRows({ ids, points }: Rows, marks: Float64Array, version: bigint): Uint8Array {
  const count = points.times.length + marks.length
  const withMarks = (own: Uint8Array, width: number, mark: number) =>
    Buffer.concat([own, Buffer.alloc(marks.length * width, mark)])
  return Buffer.concat(
    encodeBlock(count, [
      { name: 'tag', type: 'UInt64', bytes: withMarks(bytesOf(ids), 8, MARK_TAG) },
      { name: 'time', type: 'Int64', bytes: Buffer.concat([encodeInts(points.times), encodeInts(marks)]) },
      { name: 'value', type: 'Float64', bytes: withMarks(bytesOf(points.values), 8, 0) },
      { name: 'status', type: 'UInt8', bytes: withMarks(points.statuses, 1, DELETED) },
      { name: 'version', type: 'UInt64', bytes: bytesOf(new BigUint64Array(count).fill(version)) },
    ]),
  )
}
