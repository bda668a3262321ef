import type { Cut } from './scan.ts'

/** A JSON text that is too long to be parsed at once, as its cuts. */
export interface JsonCuts {
  readonly bytes: Buffer
  readonly cuts: readonly Cut[]
}
