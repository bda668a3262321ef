import { TidemarkError } from '../errors/tidemark-error.ts'
import { evenEdges, evenGrid, stepGrid, windowEdges } from '../time/grid.ts'
import type { TimeZone } from '../time/zone.ts'
import type { AggregatesRequest, InterpolatedPointsRequest } from './requests.ts'

/**
 * The time arrays of one call. Labels that ask for the same grid get the same array, which is what makes their
 * reads equal. Made only after the limits allowed as many times.
 */
export class Grids {
  readonly #made = new Map<string, Float64Array>()

  /** A single time, or several that are few. */
  times(...times: readonly number[]): Float64Array {
    return this.#once(times.join(' '), () => Float64Array.from(times))
  }

  interpolation(request: InterpolatedPointsRequest, zone: TimeZone): Float64Array {
    return this.#once(interpolationGrid(request, zone), () => {
      const { from, to, grid } = request
      if (grid.kind === 'even') return evenGrid(from, to, grid.count)
      return within(stepGrid(from, to, grid.interval, zone, Number.MAX_SAFE_INTEGER))
    })
  }

  windows(request: AggregatesRequest, zone: TimeZone): Float64Array {
    return this.#once(windowGrid(request, zone), () => {
      const { from, to, windows } = request
      if (windows.kind === 'even') return evenEdges(from, to, windows.count)
      return within(windowEdges(from, to, windows.interval, zone, Number.MAX_SAFE_INTEGER))
    })
  }

  #once(name: string, make: () => Float64Array): Float64Array {
    let times = this.#made.get(name)
    if (times === undefined) {
      times = make()
      this.#made.set(name, times)
    }
    return times
  }
}

/** Name of the grid: equal names are equal times. */
export function interpolationGrid(request: InterpolatedPointsRequest, zone: TimeZone): string {
  const { from, to, grid } = request
  return grid.kind === 'even'
    ? `even ${from} ${to} ${grid.count}`
    : `steps ${from} ${to} ${grid.text} ${zone.id}`
}

export function windowGrid(request: AggregatesRequest, zone: TimeZone): string {
  const { from, to, windows } = request
  if (windows.kind === 'even') return `windows ${from} ${to} ${windows.count}`
  return `windows ${from} ${to} ${windows.text} ${zone.id}`
}

function within(times: Float64Array | null): Float64Array {
  if (times === null) throw new TidemarkError('BUG', { what: 'a grid is larger than the limits allowed' })
  return times
}
