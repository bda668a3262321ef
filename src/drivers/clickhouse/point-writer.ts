import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, WriteBatch } from '../../historian/contract.ts'
import { outcomeUnknown, unavailable } from '../../historian/remote/unavailable.ts'
import { pointsOfTag, type TagPoints } from '../../historian/write-batch.ts'
import { concatColumns, makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { isCleanRefusal, isPassingRefusal, refusalIn } from './errors.ts'
import { bytesOf, encodeBlock, encodeInts } from './native.ts'
import type { QuerySettings, Servers } from './servers.ts'
import type { Tables } from './tables.ts'
import { tagId } from './tag-id.ts'
import type { VersionClock } from './version-clock.ts'

/** Requests that wait are sent together up to so many points. */
const MAX_JOINED_POINTS = 1_000_000

/** Points that may wait: beyond it a write is refused, since the server takes less than it is sent. */
const MAX_WAITING_POINTS = 20_000_000

interface Waiting {
  readonly batch: WriteBatch
  readonly signal: AbortSignal
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes points, one insert at a time: requests that come meanwhile wait and go together, because each insert makes a file at
 * the server, and because 18.16 takes one insert with a quorum at a time.
 *
 * An insert may be sent again however it failed: the rows and their versions are the same, and of equal rows one counts.
 */
export class PointWriter {
  readonly #historian: string
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #clock: VersionClock
  readonly #settings: QuerySettings
  readonly #timeoutMs: number
  /** Whether a refusal of the server means that nothing of the insert was taken. */
  readonly #isWhole: boolean
  #queue: Waiting[] = []
  #waitingPoints = 0
  #running: Promise<void> | null = null

  constructor(
    historian: string,
    servers: Servers,
    tables: Tables,
    clock: VersionClock,
    options: { readonly settings: QuerySettings; readonly isWhole: boolean; readonly timeoutSeconds: number },
  ) {
    this.#historian = historian
    this.#servers = servers
    this.#tables = tables
    this.#clock = clock
    this.#settings = options.settings
    this.#isWhole = options.isWhole
    this.#timeoutMs = options.timeoutSeconds * 1_000
  }

  /** Resolves when the server has acknowledged the points. */
  async write(batch: WriteBatch, { signal }: CallContext): Promise<void> {
    signal.throwIfAborted()
    const count = batch.points.times.length
    if (count === 0) return
    if (this.#waitingPoints + count > MAX_WAITING_POINTS) {
      throw unavailable(this.#historian, `${this.#waitingPoints} points wait for it already`)
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Who waits may leave; points that are on their way go on.
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    this.#waitingPoints += count
    this.#queue.push({ batch, signal, resolve, reject })
    this.#running ??= this.#run()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // Requests of the same turn of the event loop come together.
    await null
    while (this.#queue.length > 0) {
      const group = this.#next()
      const batches = group.filter(({ signal }) => !signal.aborted)
      if (batches.length > 0) await this.#insert(batches)
      for (const { batch } of group) this.#waitingPoints -= batch.points.times.length
    }
    this.#running = null
  }

  #next(): readonly Waiting[] {
    let points = 0
    let count = 0
    for (const { batch } of this.#queue) {
      points += batch.points.times.length
      if (count > 0 && points > MAX_JOINED_POINTS) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  async #insert(group: readonly Waiting[]): Promise<void> {
    try {
      const rows = rowsOf(group.map(({ batch }) => batch))
      const body = encodeRows(rows, this.#clock.take(1))
      await this.#servers.change(
        'write',
        `INSERT INTO ${this.#tables.points} (tag, time, value, status, version) FORMAT Native`,
        { signal: AbortSignal.timeout(this.#timeoutMs) },
        {
          settings: {
            ...this.#settings,
            // One block: it becomes visible as a whole.
            max_insert_block_size: Math.max(1_048_576, rows.points.times.length),
          },
          body,
          passes: isPassingRefusal,
          attempts: ATTEMPTS,
        },
      )
      for (const { resolve } of group) resolve()
    } catch (error) {
      const failure = this.#failure(error)
      for (const { reject } of group) reject(failure)
    }
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof TidemarkError)) {
      // The time limit of the insert.
      if (error instanceof DOMException)
        return outcomeUnknown(
          this.#historian,
          unavailable(this.#historian, `no answer within ${this.#timeoutMs / 1_000} seconds`, error),
        )
      return error
    }
    if (error.code !== 'HISTORIAN_UNAVAILABLE') return error
    const refusal = refusalIn(error)
    if (isCleanRefusal(error) || (refusal !== null && this.#isWhole)) return error
    if (refusal === null && isNeverSent(error)) return error
    return outcomeUnknown(this.#historian, error)
  }
}

const ATTEMPTS = 8

/** Whether no connection came about, so that nothing can have been taken. */
function isNeverSent({ message }: TidemarkError): boolean {
  return /the connection was refused|host name|no way to its|credentials/.test(message)
}

interface Rows {
  /** Two 32-bit words for each row. */
  readonly ids: Uint32Array
  readonly points: PointColumns
}

/**
 * The rows of requests, tag by tag, each tag's in time order and one per time, the last one given: so that no two rows of an
 * insert are versions of one point, and all can have the same version.
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

function encodeRows({ ids, points }: Rows, version: bigint): Uint8Array {
  const count = points.times.length
  return Buffer.concat(
    encodeBlock(count, [
      { name: 'tag', type: 'UInt64', bytes: bytesOf(ids) },
      { name: 'time', type: 'Int64', bytes: encodeInts(points.times) },
      { name: 'value', type: 'Float64', bytes: bytesOf(points.values) },
      { name: 'status', type: 'UInt8', bytes: points.statuses },
      { name: 'version', type: 'UInt64', bytes: bytesOf(new BigUint64Array(count).fill(version)) },
    ]),
  )
}
