import type { Ask } from '../client/ask.ts'
import type { ServerUnderTest } from './server.ts'

/** Points of several tags that one request sends: each of `times` for each of `tags`. */
export interface WriteOrder {
  readonly tags: readonly string[]
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  /** As texts with 3 decimals, tag by tag. */
  readonly values: readonly string[]
}

/** A database with what the workload asks of it, each in its own protocol, as one request. */
export interface Peer {
  readonly name: string
  /** Whether an acknowledged write survives a power cut. */
  readonly syncs: boolean
  readonly server: ServerUnderTest
  /** Has the number of points that were sent. */
  write(order: WriteOrder): Ask
  /** Waits until what was written can be read. */
  settle(): Promise<void>
  /** Newest value of each tag; has so many. */
  current(tags: readonly string[]): Ask
  /** All points of [from, to); has so many. */
  raw(tag: string, from: number, to: number): Ask
  /** So many evenly spaced values of each tag over [from, to), interpolated or the mean of each step; has so many. */
  values(tags: readonly string[], from: number, to: number, each: number): Ask
  /** Count, minimum, maximum and mean in equal windows of [from, to); has the sum of the counts. */
  aggregates(tag: string, from: number, to: number, windows: number): Ask
  /** Bytes on disk without free space in files and logs of what stands elsewhere, as far as the server can tell. */
  data(): Promise<{ readonly bytes: number; readonly what: string }>
  /** Breaks off what is under way. */
  interrupt(): void
  close(): Promise<void>
}
