import { type Instant, instantFromUs } from '../time/instant.ts'

/** The present, to the millisecond that the machine's clock gives. */
export function presentInstant(): Instant {
  return instantFromUs(Date.now() * 1000)
}
