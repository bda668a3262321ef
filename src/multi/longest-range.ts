import { type Instant, instantFromUs, US_PER_SECOND } from '../time/instant.ts'

/** Shorter ranges that are tried. */
const TRIES = 10
/** A range that is this near to one that is too long is taken for the longest. */
const NEAR = 0.95
/** How far below a guess from the share of the last try the next one lies. */
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
  let allowed = 0
  let tooLong = to - from
  let guess = tooLong / 2
  for (let i = 0; i < TRIES && tooLong - allowed > 1 && allowed < NEAR * tooLong; i++) {
    const length = Math.floor(guess)
    if (length < 1) break
    const share = await shareOf(instantFromUs(from + length))
    if (share === null) return null
    if (share <= 1) allowed = length
    else tooLong = length
    const nearest = share > 0 && Number.isFinite(share) ? (length / share) * CAUTION : length / STEP_DOWN
    const isBetween = nearest > allowed && nearest < tooLong
    guess = isBetween ? nearest : allowed === 0 ? tooLong / STEP_DOWN : (allowed + tooLong) / 2
  }
  if (allowed === 0) return null
  const unit = UNITS.find(([least]) => allowed >= least)?.[1] ?? 1
  const end = Math.floor((from + allowed) / unit) * unit
  return instantFromUs(end > from ? end : from + allowed)
}
