import { END_INSTANT, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { FindWindow } from '../../../time/windows.ts'

/** Windows by the start of the first and the end of the last. */
export interface WindowRange {
  readonly from: number
  readonly to: number
}

/** The windows of WINDOWAGG. */
export interface Windows {
  readonly find: FindWindow
  /** Of a window, about: for the estimate. */
  readonly lengthUs: number
  /** All of them: those of what is read of the operator, and the one on either side. */
  readonly bounds: WindowRange
}

/** From the window of the first accepted instant to that of the last one. */
export function allWindows(windows: FindWindow): WindowRange {
  const last = instantFromUs(END_INSTANT - 1)
  return { from: windows(MIN_INSTANT).start, to: windows(last).end }
}

/** The windows that a range touches, and the one on either side. @param limits all windows */
export function windowsAround(
  windows: FindWindow,
  limits: WindowRange,
  { from, to }: WindowRange,
): WindowRange {
  const { start } = windows(instantFromUs(from))
  const { end } = windows(instantFromUs(to))
  return {
    from: start <= limits.from ? limits.from : windows(instantFromUs(start - 1)).start,
    to: end >= limits.to ? limits.to : windows(end).end,
  }
}
