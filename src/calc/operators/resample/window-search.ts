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

  /**
   * The point of the first window with a value that begins at the edge of one or later, or of the last one that ends
   * there or earlier; none if there is none.
   */
  async beside(at: number, order: 'asc' | 'desc'): Promise<PointColumns> {
    const isIt = (search: Search) => search.order === order && search.from <= at && at <= search.to
    const known = this.#searches.find(isIt)
    if (known !== undefined) return known.point
    const { from, to } = this.#bounds
    const left = order === 'asc' ? { from: at, to } : { from, to: at }
    for await (const batch of this.#read(left, order)) {
      const { length } = batch.times
      if (length === 0) continue
      const point = order === 'asc' ? sliceColumns(batch, 0, 1) : sliceColumns(batch, length - 1, length)
      const { start, end } = this.#windows(instantFromUs(point.times[0]!))
      return this.#remember({ order, ...left, ...(order === 'asc' ? { to: start } : { from: end }), point })
    }
    return this.#remember({ order, ...left, point: NO_POINTS })
  }

  #remember(search: Search): PointColumns {
    if (this.#searches.length < REMEMBERED) this.#searches.push(search)
    return search.point
  }
}
