import type { PointColumns } from '../../series/columns.ts'

/** A space that grew larger is let go of after the request that needed it. */
const LARGEST_KEPT = 262_144

/** Columns that points are read into, used again by the next request. */
export class PointSpace {
  times: Float64Array<ArrayBuffer>
  values: Float64Array<ArrayBuffer>
  statuses: Uint8Array<ArrayBuffer>

  /** @param capacity points that it holds at first */
  constructor(capacity = 16_384) {
    this.times = new Float64Array(capacity)
    this.values = new Float64Array(capacity)
    this.statuses = new Uint8Array(capacity)
  }

  get capacity(): number {
    return this.times.length
  }

  /** Of memory. */
  get bytes(): number {
    return this.times.byteLength + this.values.byteLength + this.statuses.byteLength
  }

  get isWorthKeeping(): boolean {
    return this.capacity <= LARGEST_KEPT
  }

  /** Makes it hold twice as many; the arrays are other ones then, with the same points. */
  grow(): void {
    this.times = grown(this.times, new Float64Array(2 * this.capacity))
    this.values = grown(this.values, new Float64Array(2 * this.values.length))
    this.statuses = grown(this.statuses, new Uint8Array(2 * this.statuses.length))
  }

  /** The first points, valid until the space is used again. */
  view(count: number): PointColumns {
    return {
      times: this.times.subarray(0, count),
      values: this.values.subarray(0, count),
      statuses: this.statuses.subarray(0, count),
    }
  }

  /** A copy of the first points. */
  copy(count: number): PointColumns {
    return {
      times: this.times.slice(0, count),
      values: this.values.slice(0, count),
      statuses: this.statuses.slice(0, count),
    }
  }
}

function grown<Column extends { set(other: Column): void }>(old: Column, wider: Column): Column {
  wider.set(old)
  return wider
}
