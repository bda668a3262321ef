import { NO_POINTS, type PointColumns, sliceColumns } from '../../../series/columns.ts'
import { instantFromUs } from '../../../time/instant.ts'
import type { FindWindow } from '../../../time/windows.ts'
import type { WindowRange } from './window-range.ts'

/** Searches that are remembered for others that begin in the same empty windows. */
const REMEMBERED = 64

/** A search that was made: between these edges no window has a value. */
interface Search extends WindowRange {
  readonly order: 'asc' | 'desc'
  readonly point: PointColumns
}

/** Looks for the next window with a value, within bounds; not again in windows that are known to be empty. */
export class WindowSearch {
  readonly #bounds: WindowRange
  readonly #windows: FindWindow
  readonly #read: (range: WindowRange, order: 'asc' | 'desc') => AsyncGenerator<PointColumns>
  readonly #searches: Search[] = []

  /** @param read points of windows, batch by batch in an order; each batch ascends */
  constructor(
    bounds: WindowRange,
    windows: FindWindow,
    read: (range: WindowRange, order: 'asc' | 'desc') => AsyncGenerator<PointColumns>,
  ) {
    this.#bounds = bounds
    this.#windows = windows
    this.#read = read
  }

  /** The point of the last window with a value that ends at the edge of one or earlier; none if there is none. */
  async before(at: number): Promise<PointColumns> {
    const known = this.#known(at, 'desc')
    if (known !== null) return known
    const { from } = this.#bounds
    for await (const batch of this.#read({ from, to: at }, 'desc')) {
      const { length } = batch.times
      if (length === 0) continue
      const point = sliceColumns(batch, length - 1, length)
      return this.#remember({ order: 'desc', from: this.#windowOf(point).end, to: at, point })
    }
    return this.#remember({ order: 'desc', from, to: at, point: NO_POINTS })
  }

  /** The point of the first window with a value that begins at the edge of one or later; none if there is none. */
  async after(at: number): Promise<PointColumns> {
    const known = this.#known(at, 'asc')
    if (known !== null) return known
    const { to } = this.#bounds
    for await (const batch of this.#read({ from: at, to }, 'asc')) {
      if (batch.times.length === 0) continue
      const point = sliceColumns(batch, 0, 1)
      return this.#remember({ order: 'asc', from: at, to: this.#windowOf(point).start, point })
    }
    return this.#remember({ order: 'asc', from: at, to, point: NO_POINTS })
  }

  #windowOf({ times }: PointColumns): ReturnType<FindWindow> {
    return this.#windows(instantFromUs(times[0]!))
  }

  #known(at: number, order: 'asc' | 'desc'): PointColumns | null {
    const isIt = (search: Search) => search.order === order && search.from <= at && at <= search.to
    return this.#searches.find(isIt)?.point ?? null
  }

  #remember(search: Search): PointColumns {
    if (this.#searches.length < REMEMBERED) this.#searches.push(search)
    return search.point
  }
}
