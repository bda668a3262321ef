import type { ServerUnderTest } from './server.ts'

/** Points of several tags that one request sends: each of `times` for each of `tags`. */
export interface WriteOrder {
  readonly tags: readonly string[]
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  /** As texts with 3 decimals, tag by tag. */
  readonly values: readonly string[]
}

/** A request that is made beforehand, so that making it is not measured. */
export type Prepared = () => Promise<void>

/** A database with what the workload asks of it, each in its own protocol, as one request. */
export interface Peer {
  readonly name: string
  /** Whether an acknowledged write survives a power cut. */
  readonly syncs: boolean
  readonly server: ServerUnderTest
  prepareWrite(order: WriteOrder): Prepared
  /** Waits until what was written can be read. */
  settle(): Promise<void>
  /** Newest value of each tag; answers how many it got. */
  current(tags: readonly string[]): Promise<number>
  /** All points of [from, to); answers how many. */
  raw(tag: string, from: number, to: number): Promise<number>
  /** So many evenly spaced values of each tag over [from, to), interpolated or the mean of each step; answers how many. */
  values(tags: readonly string[], from: number, to: number, each: number): Promise<number>
  /** Count, minimum, maximum and mean in equal windows of [from, to); answers the sum of the counts. */
  aggregates(tag: string, from: number, to: number, windows: number): Promise<number>
  close(): Promise<void>
}
