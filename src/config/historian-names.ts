import { isHistorianName, isReservedHistorian, RESERVED_HISTORIANS } from '../grammar/address.ts'

/** Name of the historian that --demo adds. */
export const DEMO_HISTORIAN = 'demo'

/** Names become folder names, and fill messages. */
const MAX_LENGTH = 128

/** Why a text cannot be the name of a configured historian; null when it can. Source: INTERFACE.md section 3. */
export function historianNameProblem(name: string): string | null {
  if (!isHistorianName(name) || name.length > MAX_LENGTH) {
    return `a name of 1 to ${MAX_LENGTH} letters, digits, _, - and . is expected`
  }
  if (/^\.+$/.test(name)) return 'a name with at least one letter, digit, _ or - is expected'
  if (isReservedHistorian(name)) {
    return `another name is expected, as ${[...RESERVED_HISTORIANS].join(', ')} are reserved`
  }
  return null
}
