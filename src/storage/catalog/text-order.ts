import type { Address, EntryArena } from './entry-arena.ts'
import { EntryView } from './tag-entry.ts'
import {
  type ComparedText,
  compareBeginning,
  compareEntries,
  compareName,
  hasDescription,
  type OrderKind,
} from './text-compare.ts'

/** So many entries are sorted or merged in a step. */
const STEP = 256

/** Where entries are now. */
export interface EntryPlaces {
  /** Whether an entry is still that of its tag. */
  isLive(address: Address): boolean
  /** Address of an entry after all moves. */
  now(address: Address): Address
}

/**
 * Entries of all tags in the order of a text: an array of addresses, and a tail of those that came since. What is new
 * is sorted when somebody wants the order, in steps, and merged into the array. Entries that were given up, and old
 * addresses of those that have moved, stay until they are readdressed, in steps too.
 */
export class TextOrder {
  readonly #kind: OrderKind
  readonly #arena: EntryArena
  readonly #places: EntryPlaces
  readonly #left = new EntryView()
  readonly #right = new EntryView()
  #tail: AddressList
  #work: Generator<void, void> | null = null
  #readdressing: 'no' | 'next' | 'begun' = 'no'
  /** Grows whenever `sorted` is another array. */
  version = 0
  sorted: Uint32Array = new Uint32Array(0)

  /** @param all  addresses of all entries, with zeros between them; not used elsewhere from then on */
  constructor(kind: OrderKind, arena: EntryArena, places: EntryPlaces, all: Uint32Array<ArrayBuffer>) {
    this.#tail = new AddressList(all)
    this.#kind = kind
    this.#arena = arena
    this.#places = places
  }

  /** Whether it may have addresses of entries that had moved when `readdress` was called: both are to stay. */
  get isReaddressing(): boolean {
    return this.#readdressing !== 'no'
  }

  /** Bytes reserved, but for what a sort under way takes. */
  get bytes(): number {
    return this.sorted.byteLength + this.#tail.bytes
  }

  add(address: Address): void {
    this.#tail.push(address)
  }

  /** Does some work; true when nothing is left to do. Several may drive it by turns. */
  step(): boolean {
    if (this.#work === null) {
      this.#work = this.#nextWork()
      if (this.#work === null) return true
    }
    if (this.#work.next().done === true) {
      this.#work = null
      if (this.#readdressing === 'begun') this.#readdressing = 'no'
    }
    return this.#work === null && this.#readdressing === 'no' && this.#tail.length === 0
  }

  /** Has the next steps give entries the addresses that they have by then, and forget those given up. */
  readdress(): void {
    this.#readdressing = 'next'
  }

  /** Place of the first name after this one, in an order of names. */
  afterName(name: string): number {
    const compared = { text: name, utf8: Buffer.from(name) }
    return this.#firstPlace((entry) => compareName(entry, compared) > 0)
  }

  /**
   * Places of the texts that begin so, among those of [from, to).
   * @param beginning  at most DESCRIPTION_BYTES
   */
  withBeginning(
    beginning: ComparedText,
    [from, to]: readonly [from: number, to: number],
  ): readonly [from: number, to: number] {
    const first = this.#firstPlace((entry) => compareBeginning(this.#kind, entry, beginning) >= 0, from, to)
    return [first, this.#firstPlace((entry) => compareBeginning(this.#kind, entry, beginning) > 0, first, to)]
  }

  #firstPlace(isBehind: (entry: EntryView) => boolean, from = 0, to = this.sorted.length): number {
    let [low, high] = [from, to]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBehind(this.#arena.view(this.sorted[middle]!, this.#left))) high = middle
      else low = middle + 1
    }
    return low
  }

  readonly #compare = (a: Address, b: Address): number =>
    compareEntries(this.#kind, this.#arena.view(a, this.#left), this.#arena.view(b, this.#right))

  #belongs(address: Address): boolean {
    if (address === 0 || !this.#places.isLive(address)) return false
    return this.#kind === 'name' || hasDescription(this.#arena.view(address, this.#left))
  }

  #nextWork(): Generator<void, void> | null {
    if (this.#readdressing === 'next') {
      this.#readdressing = 'begun'
      return this.#readdressAll()
    }
    if (this.#tail.length === 0) return null
    const tail = this.#tail
    this.#tail = new AddressList()
    return this.#merge(tail)
  }

  /** What comes meanwhile has the addresses of now. */
  *#readdressAll(): Generator<void, void> {
    const before = this.sorted
    const tail = this.#tail.all()
    this.#tail = new AddressList()
    for (let i = 0; i < tail.length; i++) {
      if (tail[i] !== 0 && this.#places.isLive(tail[i]!)) this.#tail.push(this.#places.now(tail[i]!))
      if (i % STEP === 0) yield
    }
    const kept = new Uint32Array(before.length)
    let count = 0
    for (let i = 0; i < before.length; i++) {
      if (this.#places.isLive(before[i]!)) kept[count++] = this.#places.now(before[i]!)
      if (i % STEP === 0) yield
    }
    this.sorted = count === kept.length ? kept : kept.slice(0, count)
    this.version++
  }

  *#merge(tail: AddressList): Generator<void, void> {
    const all = tail.all()
    let count = 0
    for (let i = 0; i < all.length; i++) {
      if (this.#belongs(all[i]!)) all[count++] = all[i]!
      if (i % STEP === 0) yield
    }
    const added = yield* this.#sort(all.subarray(0, count))
    const before = this.sorted
    const merged = new Uint32Array(before.length + count)
    yield* this.#mergeInto(merged, 0, before, added)
    this.sorted = merged
    this.version++
  }

  *#sort(addresses: Uint32Array): Generator<void, Uint32Array> {
    for (let at = 0; at < addresses.length; at += STEP) {
      const run = addresses.subarray(at, at + STEP)
      if (!this.#isSorted(run)) run.sort(this.#compare)
      yield
    }
    let from = addresses
    let to = new Uint32Array(from.length)
    for (let width = STEP; width < addresses.length; width *= 2) {
      for (let at = 0; at < from.length; at += 2 * width) {
        const left = from.subarray(at, at + width)
        yield* this.#mergeInto(to, at, left, from.subarray(at + width, at + 2 * width))
      }
      ;[from, to] = [to, from as Uint32Array<ArrayBuffer>]
    }
    return from
  }

  #isSorted(run: Uint32Array): boolean {
    for (let i = 1; i < run.length; i++) {
      if (this.#compare(run[i - 1]!, run[i]!) > 0) return false
    }
    return true
  }

  /** Merges two sorted arrays. What one has in a row is found by doubling steps and copied as a whole. */
  *#mergeInto(
    target: Uint32Array,
    start: number,
    left: Uint32Array,
    right: Uint32Array,
  ): Generator<void, void> {
    let [at, l, r, steps] = [start, 0, 0, 0]
    while (l < left.length && r < right.length) {
      const leftEnd = this.#runEnd(left, l, right[r]!, false)
      target.set(left.subarray(l, leftEnd), at)
      at += leftEnd - l
      l = leftEnd
      if (l === left.length) break
      const rightEnd = this.#runEnd(right, r, left[l]!, true)
      target.set(right.subarray(r, rightEnd), at)
      at += rightEnd - r
      r = rightEnd
      if (++steps % (STEP / 4) === 0) yield
    }
    target.set(left.subarray(l), at)
    target.set(right.subarray(r), at + left.length - l)
    yield
  }

  /** End of those from a place on that come before another entry, or, unless `strictly`, are equal to it. */
  #runEnd(array: Uint32Array, from: number, other: Address, strictly: boolean): number {
    const isBefore = (place: number) => {
      const order = this.#compare(array[place]!, other)
      return strictly ? order < 0 : order <= 0
    }
    let low = from
    let reach = 1
    while (low + reach <= array.length && isBefore(low + reach - 1)) {
      low += reach
      reach *= 2
    }
    let high = Math.min(array.length, low + reach - 1)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(middle)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Addresses in an array that grows. */
export class AddressList {
  #addresses: Uint32Array
  length: number

  /** @param addresses  the first ones, in memory that it takes over */
  constructor(addresses: Uint32Array = new Uint32Array(0)) {
    this.#addresses = addresses
    this.length = addresses.length
  }

  /** Bytes reserved. */
  get bytes(): number {
    return this.#addresses.byteLength
  }

  push(address: Address): void {
    if (this.length === this.#addresses.length) {
      const grown = new Uint32Array(Math.max(16, Math.ceil(1.5 * this.length)))
      grown.set(this.#addresses)
      this.#addresses = grown
    }
    this.#addresses[this.length++] = address
  }

  /** As they are: not a copy. */
  all(): Uint32Array {
    return this.#addresses.subarray(0, this.length)
  }
}
