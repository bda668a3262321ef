import { Damage } from '../damage.ts'
import { GROUP, PackedReader } from './bit-packing.ts'
import { POWERS } from './value-codec.ts'
import { ByteReader } from './varint.ts'

/**
 * Some of the values of a chunk whose values are packed without exceptions (VALUES.packed), in ascending order of
 * index: those between are added up, and groups behind the last one that is asked for stay packed.
 */
export class PackedWalk {
  readonly #reader = new ByteReader()
  readonly #packed = new PackedReader()
  #power = 1
  #count = 0
  #usual = 0
  /** Index of the value in hand. */
  #index = 0
  #multiple = 0
  /** The multiple before. */
  #previous = 0
  /** The group in hand holds the numbers of the values from one index (included) to another (excluded). */
  #from = 1
  #to = 1

  /**
   * Begins with the values at which a reader stands; false, and the reader stays, when there are exceptions among them.
   * Throws Damage.
   */
  open(reader: ByteReader, decimals: number, count: number): boolean {
    const { bytes, at, end } = reader
    if (reader.varint() !== 0) {
      reader.at = at
      return false
    }
    const power = POWERS[decimals]
    if (power === undefined) throw new Damage('the values of a block have an unknown scale')
    const own = this.#reader.open(bytes, reader.at, end)
    this.#power = power
    this.#count = count
    this.#multiple = own.signed()
    this.#previous = this.#multiple
    this.#usual = own.signed()
    this.#index = 0
    this.#from = 1
    this.#to = 1
    this.#packed.open(own)
    return true
  }

  /** @param index  at most one less than the greatest one that was asked for before, and an index of the chunk */
  valueAt(index: number): number {
    if (index < this.#index) return this.#previous / this.#power
    if (index > this.#index) this.#advance(index)
    return this.#multiple / this.#power
  }

  #advance(index: number): void {
    if (index >= this.#to) this.#goToGroupOf(index)
    const sum = this.#sumBetween(this.#index + 1, index)
    this.#previous = this.#multiple + sum
    this.#multiple = this.#previous + this.#packed.numbers[index - this.#from]! + this.#usual
    this.#index = index
  }

  /** Has the group of a value in hand, and the last value of the one before. */
  #goToGroupOf(index: number): void {
    this.#multiple += this.#sumBetween(this.#index + 1, this.#to)
    let next = this.#to
    for (; index >= next + GROUP; next += GROUP) {
      this.#packed.pass(this.#reader, GROUP)
      this.#multiple += this.#packed.sum() + GROUP * this.#usual
    }
    const length = Math.min(GROUP, this.#count - next)
    if (length <= index - next) throw new Damage('a block ends too early')
    this.#packed.read(this.#reader, length)
    this.#from = next
    this.#to = next + length
    this.#index = next - 1
  }

  /** Sum of the differences of values of the group in hand. They have 24 bits, and a group too few to leave 32 bits. */
  #sumBetween(start: number, end: number): number {
    const { numbers } = this.#packed
    let sum = 0
    for (let i = start - this.#from; i < end - this.#from; i++) sum = (sum + numbers[i]!) | 0
    return sum + (end - start) * this.#usual
  }
}
