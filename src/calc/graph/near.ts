import type { Instant } from '../../time/instant.ts'

/**
 * A place that is known only when raw points were found: what is needed there is needed at the place of a need, moved
 * by as much, back in time, forward, or one after the other.
 */
export interface Near {
  /** Where the place of the need lies. */
  readonly from: Instant
  readonly to: Instant
  /** `null` where it is not moved in that direction. */
  readonly back: Steps | null
  readonly ahead: Steps | null
  readonly window?: NearWindow | undefined
  /** Wherever it is moved to, nothing is read before this instant. */
  readonly floor?: Instant | undefined
}

/**
 * From a place between `from` and `to` on to the `points`-th raw point of any tag below, and no further than `mostUs`.
 */
export interface Steps {
  readonly from: Instant
  readonly to: Instant
  readonly points: number
  readonly mostUs: number
  /** Raw points may lie so much further away than those of tags. */
  readonly slackUs: number
}

/**
 * Set where what is needed begins or ends with an anchored window: of a place that is moved further than within this
 * one the window is another, which begins or ends by so much more elsewhere.
 */
interface NearWindow {
  readonly withinUs: number
  readonly aheadUs: number
  readonly moreUs: number
}

/** How far from an instant the raw point next to it lies, as it follows from the operator alone. */
export interface Reach {
  /** Infinite where it depends on what is stored. */
  readonly mostUs: number
  /** Whether there is one. */
  readonly isSure: boolean
  /** How much further away they lie than raw points of tags; 0 when left out. */
  readonly slackUs?: number
}

export const FAR: Reach = { mostUs: Number.POSITIVE_INFINITY, isSure: false }

/** Of so many raw points, one after the other. */
export function timesOf(reach: Reach, points: number): Pick<Reach, 'mostUs' | 'slackUs'> {
  return { ...reach, mostUs: points === 0 ? 0 : points * reach.mostUs }
}

/** The place of the `points`-th raw point from an instant on. @param reach of all of them, or each one's slack */
export function nearTo(
  at: Instant,
  isBack: boolean,
  points: number,
  reach: Pick<Reach, 'mostUs' | 'slackUs'>,
): Near {
  const { mostUs, slackUs = 0 } = reach
  const steps = { from: at, to: at, points, mostUs, slackUs: points * slackUs }
  return { from: at, to: at, back: isBack ? steps : null, ahead: isBack ? null : steps }
}

/** The same place where all from an instant on is read with it. */
export function readingFrom(near: Near, at: Instant): Near {
  return at < near.from ? { ...near, from: at } : near
}

/** A place that was marked, where what is needed depends on the window that holds it, if it may leave that one. */
export function inWindow({ from, to, back, ahead }: Near, start: number, end: number, moreUs: number): Near {
  const [withinUs, aheadUs] = [Math.max(0, from - start), Math.max(0, end - to)]
  const stays = (back?.mostUs ?? 0) <= withinUs && (ahead?.mostUs ?? 0) <= aheadUs
  return { from, to, back: null, ahead: null, window: stays ? undefined : { withinUs, aheadUs, moreUs } }
}

/** A place that was marked, of which nothing is read before an instant, wherever it is moved to. */
export function notBefore({ from, to }: Near, floor: Instant): Near {
  return { from, to, back: null, ahead: null, floor }
}

export function nearName({ from, to, back, ahead, window, floor }: Near): string {
  const name = `${from} ${to} ${stepsName(back)} ${stepsName(ahead)} ${floor ?? ''}`
  return window === undefined ? name : `${name} ${window.withinUs} ${window.aheadUs} ${window.moreUs}`
}

function stepsName(steps: Steps | null): string {
  return steps === null ? '' : `${steps.from} ${steps.to} ${steps.points} ${steps.mostUs} ${steps.slackUs}`
}

/** What holds for two places: the one that lies further away. */
export function furthest(a: Near, b: Near): Near {
  const floor =
    a.floor === undefined || b.floor === undefined ? undefined : a.floor < b.floor ? a.floor : b.floor
  return joined(a, b, Math.max, floor)
}

/** From a place that was found to the next. */
export function together(outer: Near, inner: Near): Near {
  // A further search may go back beyond it.
  const floor = inner.back === null ? (inner.floor ?? outer.floor) : inner.floor
  return joined(outer, inner, (a, b) => a + b, floor)
}

function joined(a: Near, b: Near, both: (a: number, b: number) => number, floor: Instant | undefined): Near {
  const back = steps(a.back, b.back, both)
  const ahead = steps(a.ahead, b.ahead, both)
  return { ...hull(a, b), back, ahead, window: windowOf(a.window, b.window, both), floor }
}

function windowOf(
  a: NearWindow | undefined,
  b: NearWindow | undefined,
  both: (a: number, b: number) => number,
): NearWindow | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return {
    withinUs: Math.min(a.withinUs, b.withinUs),
    aheadUs: Math.min(a.aheadUs, b.aheadUs),
    moreUs: both(a.moreUs, b.moreUs),
  }
}

function steps(a: Steps | null, b: Steps | null, both: (a: number, b: number) => number): Steps | null {
  if (a === null || b === null) return a ?? b
  const [points, mostUs] = [both(a.points, b.points), both(a.mostUs, b.mostUs)]
  return { ...hull(a, b), points, mostUs, slackUs: both(a.slackUs, b.slackUs) }
}

type Place = Pick<Near, 'from' | 'to'>

/** From the earlier beginning to the later end. */
export function hull(a: Place, b: Place): Place {
  return { from: a.from < b.from ? a.from : b.from, to: a.to > b.to ? a.to : b.to }
}

/** The same place for an operator whose times are moved. */
export function movedPlace(near: Near, move: (at: Instant) => Instant): Near {
  const moved = <Placed extends Place>(place: Placed): Placed => {
    return { ...place, from: move(place.from), to: move(place.to) }
  }
  const { back, ahead, floor } = near
  const steps = { back: back && moved(back), ahead: ahead && moved(ahead) }
  return { ...moved(near), ...steps, floor: floor === undefined ? floor : move(floor) }
}
