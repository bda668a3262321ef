/**
 * A place that is known only when raw points were found: that of the `count`-th raw point of any tag below, back in
 * time from the place of a need, or forward from it. What is needed there is needed at the place, moved by as much.
 */
export interface Near {
  readonly back: boolean
  readonly count: number
  /**
   * Set where the need begins at the start of an anchored window: of a place that lies further back than `withinUs` the
   * window is another one, and so much longer than the need at most.
   */
  readonly window?: { readonly withinUs: number; readonly moreUs: number }
  /** Forward: no further than so, where that is known, however few raw points there are. */
  readonly aheadUs?: number
}

export function nearName({ back, count, window }: Near): string {
  const name = `${back ? 'before' : 'after'} ${count}`
  return window === undefined ? name : `${name} ${window.withinUs} ${window.moreUs}`
}

/** What holds for two places: the one that lies further away. */
export function furthest(a: Near, b: Near): Near {
  const back = a.back || b.back
  const count = Math.max(a.count, b.count)
  const aheadUs = Math.max(a.aheadUs ?? 0, b.aheadUs ?? 0)
  const windows = [a.window, b.window].filter((window) => window !== undefined)
  if (windows.length === 0) return { back, count, aheadUs }
  const withinUs = Math.min(...windows.map((window) => window.withinUs))
  const moreUs = Math.max(...windows.map((window) => window.moreUs))
  return { back, count, aheadUs, window: { withinUs, moreUs } }
}

/** From a place that was found to the next. */
export function together(outer: Near, inner: Near): Near {
  return { ...furthest(outer, inner), count: outer.count + inner.count }
}
