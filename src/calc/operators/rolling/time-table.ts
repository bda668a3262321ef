/** Room for so many times at first, of which half is used. */
const FIRST_ROOM = 64

/**
 * Values by time, in two columns: open addressing with linear probing, half full at most. A Map of numbers takes 75
 * bytes for each, most of them objects of the heap, this one 32 to 64.
 */
export class TimeTable {
  #times = new Float64Array(0)
  #values = new Float64Array(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Where a time stands; -1 where it does not. */
  find(time: number): number {
    if (this.#size === 0) return -1
    const slot = this.#slotOf(time)
    return this.#times[slot] === time ? slot : -1
  }

  /** @param slot as `find` gave it */
  valueAt(slot: number): number {
    return this.#values[slot]!
  }

  /** In place of the value that stands at the time, if any. @param time not NaN */
  add(time: number, value: number): void {
    if (2 * this.#size >= this.#times.length) this.#grow()
    const slot = this.#slotOf(time)
    if (this.#times[slot] !== time) this.#size++
    this.#times[slot] = time
    this.#values[slot] = value
  }

  /** Its slot, or the free one where it belongs. */
  #slotOf(time: number): number {
    const times = this.#times
    const last = times.length - 1
    // Both halves of a whole number of 53 bits, spread by the golden ratio.
    const mixed = (time | 0) ^ Math.imul((time / 2 ** 32) | 0, 0x85ebca6b)
    let slot = Math.imul(mixed, 0x9e3779b1) >>> Math.clz32(last)
    while (times[slot] !== time && !Number.isNaN(times[slot]!)) slot = (slot + 1) & last
    return slot
  }

  #grow(): void {
    const [times, values] = [this.#times, this.#values]
    const room = Math.max(FIRST_ROOM, 2 * times.length)
    this.#times = new Float64Array(room).fill(Number.NaN)
    this.#values = new Float64Array(room)
    for (let i = 0; i < times.length; i++) {
      if (Number.isNaN(times[i]!)) continue
      const slot = this.#slotOf(times[i]!)
      this.#times[slot] = times[i]!
      this.#values[slot] = values[i]!
    }
  }
}
