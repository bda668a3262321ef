import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { openPartStore } from '../../src/storage/parts/file-part-store.ts'

const STEP_MS = 600_000
const START = Date.UTC(2024, 0, 1)

/** What a backfill writes: points of some tags, ten minutes apart, worked out from their numbers, in random order. */
export class Plant {
  readonly points: number
  readonly tags: number
  /** Points of each tag. */
  readonly each: number
  readonly #halfBits: number

  /** @param points  a multiple of the number of tags */
  constructor(points: number, tags: number) {
    this.points = points
    this.tags = tags
    this.each = points / tags
    this.#halfBits = Math.ceil(Math.log2(points) / 2)
  }

  /** @returns milliseconds since 1970 */
  timeOf(index: number): number {
    return START + index * STEP_MS
  }

  /** With three decimals: days, hours and noise. */
  valueOf(tag: number, index: number): number {
    const day = 20 * Math.sin((index * 2 * Math.PI) / 144 + tag)
    const noise = mixed(index, tag) / 2 ** 32
    return Math.round(1_000 * (50 + day + 3 * Math.sin(index / 37 + tag) + noise)) / 1_000
  }

  /** All points of a tag, in time order. */
  pointsOf(tag: number): PointColumns {
    const columns = makeColumns(this.each)
    for (let index = 0; index < this.each; index++) {
      columns.times[index] = this.timeOf(index) * 1_000
      columns.values[index] = this.valueOf(tag, index)
    }
    return columns
  }

  /**
   * The points of a request, those with the given places in the random order, as its body. A Feistel network is the
   * permutation; what it gives beyond the number of points goes through it again (cycle walking).
   */
  bodyOf(from: number, to: number): string {
    const indexes: number[][] = Array.from({ length: this.tags }, () => [])
    for (let place = from; place < Math.min(to, this.points); place++) {
      let number = place
      do number = this.#permuted(number)
      while (number >= this.points)
      indexes[number % this.tags]!.push(Math.floor(number / this.tags))
    }
    const entries: string[] = []
    for (const [tag, found] of indexes.entries()) {
      if (found.length === 0) continue
      const times = found.map((index) => this.timeOf(index)).join(',')
      const values = found.map((index) => this.valueOf(tag, index)).join(',')
      entries.push(`"local/${nameOf(tag)}":{"unit":"ms","timestamps":[${times}],"values":[${values}]}`)
    }
    return `{"createTags":true,"points":{${entries.join(',')}}}`
  }

  #permuted(number: number): number {
    const half = this.#halfBits
    const mask = 2 ** half - 1
    let left = Math.floor(number / 2 ** half)
    let right = number & mask
    for (let round = 0; round < 4; round++) {
      const next = left ^ (mixed(right, round) & mask)
      left = right
      right = next
    }
    return left * 2 ** half + right
  }
}

export function nameOf(tag: number): string {
  return `BACKFILLED-${tag}`
}

/** Bytes a point of the same points in one part, in time order: those of some tags. */
export async function leastBytes(plant: Plant, folder: string): Promise<number> {
  systemFiles.makeFolder(folder)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 0 })
  const writer = store.create('00000001-00000001.part', { firstSequence: 1, lastSequence: 1, replaces: [] })
  for (let tag = 0; tag < Math.min(plant.tags, 20); tag++) writer.add(tag, plant.pointsOf(tag))
  const { bytes, points } = await writer.finish()
  return bytes / points
}

/** A whole number below 2 ** 32 that looks random (murmur3's finalizer). */
function mixed(number: number, seed: number): number {
  let hash = Math.imul(number ^ Math.imul(seed + 1, 0x9e37_79b1), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
