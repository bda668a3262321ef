/** How every sentence begins that says what is left out of a tag's points because of damage. */
export function leftOutPrefix(address: string): string {
  return `Points of ${address} from `
}

/**
 * What a read leaves out because of damage.
 * @param from, to  texts of the first and the last instant of which points may be missing
 */
export function leftOutSentence(address: string, from: string, to: string): string {
  return `${leftOutPrefix(address)}${from} to ${to} are left out as far as they cannot be read: what is stored of them is damaged`
}
