import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Argument, Complaint, Parameter } from '../../grammar/tree.ts'
import { type Duration, rateUs } from '../../time/duration.ts'
import type { BoundArguments } from './bound-arguments.ts'

/** The time unit of the rate that TOTAL adds up. */
export const UNIT_PARAMETER: Parameter = { name: 'unit', kind: 'duration', onlyWith: 'TOTAL' }

/** Refuses a unit of TOTAL without a fixed length. @param index where it stands, if there is one */
export function checkUnit(args: readonly Argument[], index: number): Complaint | null {
  return checkFixedLength(args, index, 'a unit of fixed length such as 1h or 1d')
}

/** The unit of TOTAL in microseconds, once it was checked; 1 with another operation. */
export function unitUsOf(args: BoundArguments): number {
  return args.get('op', 'word').word === 'TOTAL' ? fixedUs(args.get('unit', 'duration').duration) : 1
}

/** Refuses months and years. @param expected what should stand there */
export function checkFixedLength(
  args: readonly Argument[],
  index: number,
  expected: string,
): Complaint | null {
  const argument = args[index]
  if (argument?.kind !== 'duration' || rateUs(argument.duration) !== null) return null
  return { argument: index, reason: `expected ${expected}, found ${argument.text}` }
}

/** Length of a duration that was checked, in microseconds. */
export function fixedUs(duration: Duration): number {
  const us = rateUs(duration)
  if (us === null) throw new TidemarkError('BUG', { what: 'a duration of fixed length was checked' })
  return us
}
