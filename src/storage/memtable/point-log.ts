import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { isCut, type Span } from '../blocks/spans.ts'

/** Points of a slab. */
const SLAB_POINTS = 65_536
const SLAB_BITS = 16
/** Slabs that are kept for later: those of a generation and a half. */
export const KEPT_SLABS = 24

/**
 * Points that lie beside each other are of different tags, and memory is slow to get at: what belongs to a point lies
 * in two places.
 */
interface Slab {
  /** Time and value of each point. */
  readonly doubles: Float64Array<ArrayBuffer>
  /** Of each point twice the place of the one of the same tag that came before, NO_PLACE for none, and its status. */
  readonly links: Int32Array<ArrayBuffer>
}

export const NO_PLACE = -1

/** Slabs that generations use one after the other. */
export class SlabPool {
  readonly #kept: Slab[] = []
  readonly #most: number
  /** Whether nothing was in memory when slabs came back last, and none was taken since. */
  #isIdle = false

  /** @param most  slabs that are kept for later; the memory of others is freed at once */
  constructor(most = KEPT_SLABS) {
    this.#most = most
  }

  take(): Slab {
    this.#isIdle = false
    return (
      this.#kept.pop() ?? {
        doubles: new Float64Array(2 * SLAB_POINTS),
        links: new Int32Array(SLAB_POINTS),
      }
    )
  }

  /**
   * Takes slabs back that nobody looks at any more.
   * @param isLast  whether nothing is in memory any more, so that all go, and those that come back later as well
   */
  giveBack(slabs: readonly Slab[], isLast: boolean): void {
    this.#isIdle ||= isLast
    const all = [...this.#kept, ...slabs]
    this.#kept.length = 0
    for (const slab of all) {
      if (!this.#isIdle && this.#kept.length < this.#most) this.#kept.push(slab)
      else for (const { buffer } of [slab.doubles, slab.links]) buffer.transfer(0)
    }
  }
}

/**
 * Points of many tags in the order in which they came, each with the place of the one before it of the same tag: 20
 * bytes a point, however few a tag has. Those of one tag are found from the last one backwards, so that a tag should
 * not have many here.
 */
export class PointLog {
  readonly #pool: SlabPool
  #slabs: Slab[] = []
  #length = 0
  /** How many look at points by their places, which have to stay as they are. */
  #pins = 0
  /** Whether the memory is given back when nobody looks any more, and as the last one; `null` as long as it is used. */
  #released: { readonly isLast: boolean } | null = null

  constructor(pool: SlabPool) {
    this.#pool = pool
  }

  /**
   * Adds points with index from start to end of one tag behind the one at `previous`; gives the place of the last one.
   */
  add({ times, values, statuses }: PointColumns, start: number, end: number, previous: number): number {
    let last = previous
    for (let i = start; i < end; i++) {
      const place = this.#length++
      const at = place & (SLAB_POINTS - 1)
      if (at === 0) this.#slabs.push(this.#pool.take())
      const slab = this.#slabs[place >>> SLAB_BITS]!
      slab.doubles[2 * at] = times[i]!
      slab.doubles[2 * at + 1] = values[i]!
      slab.links[at] = 2 * last + statuses[i]!
      last = place
    }
    return last
  }

  /** Until `unpin`, the points of a tag are those of its last place and count of now, whatever becomes of the tag. */
  pin(): void {
    this.#pins++
  }

  unpin(): void {
    this.#pins--
    if (this.#pins === 0 && this.#released !== null) this.#giveBack(this.#released.isLast)
  }

  /** The points of a tag, as they came. @param last  place of the last one. @param count  how many they are */
  collect(last: number, count: number): PointColumns {
    const points = makeColumns(count)
    this.copy(last, count, points, 0)
    return points
  }

  /** Copies the points of a tag, as they came. @param at  where the first one goes */
  copy(last: number, count: number, { times, values, statuses }: PointColumns, at: number): void {
    let place = last
    for (let i = at + count - 1; i >= at; i--) {
      const slab = this.#slabs[place >>> SLAB_BITS]!
      const from = place & (SLAB_POINTS - 1)
      const link = slab.links[from]!
      times[i] = slab.doubles[2 * from]!
      values[i] = slab.doubles[2 * from + 1]!
      statuses[i] = link & 1
      place = link >> 1
    }
  }

  /**
   * Takes the points of a tag in spans away, which are joined: those that stay are linked with each other where they
   * are, or, where somebody looks at them, those are copied that came after the first one which is taken away. What is
   * taken away keeps its place until `release`.
   * @returns  place of the last one that stays, NO_PLACE for none, and how many stay
   */
  remove(
    last: number,
    count: number,
    spans: readonly Span[],
  ): { readonly last: number; readonly count: number } {
    if (this.#pins > 0) return this.#copyWithout(last, count, spans)
    let newest = NO_PLACE
    let kept = 0
    /** Of those that stay the one that came after the point that is looked at. */
    let after = NO_PLACE
    let isLinked = true
    let place = last
    for (let i = 0; i < count; i++) {
      const { doubles, links } = this.#slabs[place >>> SLAB_BITS]!
      const at = place & (SLAB_POINTS - 1)
      const time = doubles[2 * at]!
      if (isCut(spans, time, time)) isLinked = false
      else {
        if (newest === NO_PLACE) newest = place
        else if (!isLinked) this.#link(after, place)
        after = place
        isLinked = true
        kept++
      }
      place = links[at]! >> 1
    }
    return { last: newest, count: kept }
  }

  #copyWithout(last: number, count: number, spans: readonly Span[]) {
    /** How many came since the first one that is taken away, it among them, and what came before that. */
    let since = 0
    let before = last
    let place = last
    for (let i = 1; i <= count; i++) {
      const { doubles, links } = this.#slabs[place >>> SLAB_BITS]!
      const at = place & (SLAB_POINTS - 1)
      const time = doubles[2 * at]!
      place = links[at]! >> 1
      if (!isCut(spans, time, time)) continue
      since = i
      before = place
    }
    if (since === 0) return { last, count }
    const points = this.collect(last, since)
    let newest = since === count ? NO_PLACE : before
    let kept = count - since
    for (let i = 0; i < since; i++) {
      const time = points.times[i]!
      if (isCut(spans, time, time)) continue
      newest = this.add(points, i, i + 1, newest)
      kept++
    }
    return { last: newest, count: kept }
  }

  /** Makes a point the one before another one of the same tag. */
  #link(place: number, previous: number): void {
    const { links } = this.#slabs[place >>> SLAB_BITS]!
    const at = place & (SLAB_POINTS - 1)
    links[at] = 2 * previous + (links[at]! & 1)
  }

  /**
   * Gives the memory back as soon as nobody looks at points; nothing else is asked of this any more.
   * @param isLast  whether there are no other points
   */
  release(isLast: boolean): void {
    if (this.#pins > 0) this.#released = { isLast }
    else this.#giveBack(isLast)
  }

  #giveBack(isLast: boolean): void {
    this.#pool.giveBack(this.#slabs, isLast)
    this.#slabs = []
    this.#length = 0
  }
}
