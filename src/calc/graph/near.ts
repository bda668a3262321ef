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
}

export function nearName({ back, count, window }: Near): string {
  const name = `${back ? 'before' : 'after'} ${count}`
  return window === undefined ? name : `${name} ${window.withinUs} ${window.moreUs}`
}

/** What holds for two places: the one that lies further away. */
export function furthest(a: Near, b: Near): Near {
  const back = a.back || b.back
  const count = Math.max(a.count, b.count)
  const windows = [a.window, b.window].filter((window) => window !== undefined)
  if (windows.length === 0) return { back, count }
  const withinUs = Math.min(...windows.map((window) => window.withinUs))
  return {
    back,
    count,
    window: { withinUs, moreUs: Math.max(...windows.map(({ moreUs }) => moreUs)) },
  }
}

/** From a place that was found to the next. */
export function together(outer: Near, inner: Near): Near {
  return { ...furthest(outer, inner), count: outer.count + inner.count }
}
