import { type Instant, instantFromUs, US_PER_SECOND } from '../time/instant.ts'

/** Shorter ranges that are tried. */
const TRIES = 16
/** A range that is this near to one that is too long is taken for the longest. */
const NEAR = 0.95
/** Unless it takes less than this of what is allowed: the points of a new tag may all lie behind it. */
const ENOUGH = 0.5
/** How far below the end that would just be allowed the next try lies. */
const CAUTION = 0.97
/** Where nothing is known but that a range is far too long. */
const STEP_DOWN = 16

/** Units that the end of a range is rounded down to, by the length from which on they are fine enough. */
const UNITS: readonly (readonly [fromUs: number, unitUs: number])[] = [
  [48 * 3600 * US_PER_SECOND, 3600 * US_PER_SECOND],
  [2 * 3600 * US_PER_SECOND, 60 * US_PER_SECOND],
  [2 * 60 * US_PER_SECOND, US_PER_SECOND],
]

/**
 * The end of about the longest range with the same start that is allowed, by trying shorter ones; a round time where
 * that makes little difference. `null` when none is found.
 * @param shareOf how much of what is allowed the range up to an end takes, 1 being all of it; infinite where it is too
 *                much by an unknown factor, `null` where there is no shorter range
 */
export async function longestRange(
  { from, to }: { readonly from: Instant; readonly to: Instant },
  shareOf: (to: Instant) => Promise<number | null>,
): Promise<Instant | null> {
  let [allowed, taken] = [0, 0]
  let [tooLong, needed] = [to - from, Number.POSITIVE_INFINITY]
  let guess = tooLong / 2
  const isNear = () => taken >= NEAR || (taken >= ENOUGH && allowed >= NEAR * tooLong)
  for (let i = 0; i < TRIES && tooLong - allowed > 1 && !isNear(); i++) {
    const length = Math.floor(guess)
    if (length < 1) break
    const share = await shareOf(instantFromUs(from + length))
    if (share === null) return null
    const width = tooLong - allowed
    if (share <= 1) [allowed, taken] = [length, share]
    else [tooLong, needed] = [length, share]
    const isSlow = i > 0 && tooLong - allowed > width / 2
    guess = isSlow ? (allowed + tooLong) / 2 : between(allowed, taken, tooLong, needed)
  }
  if (allowed === 0) return null
  const unit = UNITS.find(([least]) => allowed >= least)?.[1] ?? 1
  const end = Math.floor((from + allowed) / unit) * unit
  return instantFromUs(end > from ? end : from + allowed)
}

/** The next length to try: on the line between what is known, or as the points up to the longest allowed one lie. */
function between(allowed: number, taken: number, tooLong: number, needed: number): number {
  if (Number.isFinite(needed)) {
    const part = ((1 - taken) / (needed - taken)) * CAUTION
    return allowed + Math.max(1, (tooLong - allowed) * part)
  }
  if (allowed === 0) return tooLong / STEP_DOWN
  const onward = (allowed / taken) * CAUTION
  return onward > allowed && onward < tooLong ? onward : (allowed + tooLong) / 2
}
