import type { Ask, Series } from './series.ts'

/**
 * Whether a series answers a kind of ask with a number of points that is known beforehand, as where the historians work it
 * out themselves, and reads no range of raw points.
 * @param ask  over a short time; only its kind matters
 */
export function readsNoRange(series: Series, ask: Ask): boolean {
  let bounded = true
  series.plan(ask, {
    add: ({ stored }) => {
      bounded &&= stored === null
    },
  })
  return bounded
}
