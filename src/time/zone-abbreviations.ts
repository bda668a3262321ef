import { US_PER_MINUTE } from './instant.ts'

/**
 * Abbreviations that mean one offset only, in minutes east of Greenwich. Left out are those with several
 * meanings in use: AST, BST, CDT, CST, IST, PST, SST and the like. docs/timestamps.md lists them.
 */
const MINUTES = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['WET', 0],
  ['WEST', 60],
  ['CET', 60],
  ['CEST', 120],
  ['EET', 120],
  ['EEST', 180],
  ['MSK', 180],
  ['SAST', 120],
  ['WAT', 60],
  ['CAT', 120],
  ['EAT', 180],
  ['PKT', 300],
  ['WIB', 420],
  ['HKT', 480],
  ['AWST', 480],
  ['JST', 540],
  ['KST', 540],
  ['ACST', 570],
  ['ACDT', 630],
  ['AEST', 600],
  ['AEDT', 660],
  ['NZST', 720],
  ['NZDT', 780],
  ['HST', -600],
  ['AKST', -540],
  ['AKDT', -480],
  ['PDT', -420],
  ['MST', -420],
  ['MDT', -360],
  ['EST', -300],
  ['EDT', -240],
  ['NST', -210],
  ['NDT', -150],
])

/**
 * Offset of an abbreviation in any case, in microseconds; null when it is not known or has several meanings.
 */
export function offsetOfAbbreviation(text: string): number | null {
  const minutes = MINUTES.get(text.toUpperCase())
  return minutes === undefined ? null : minutes * US_PER_MINUTE
}

/** All abbreviations, for the reference. */
export const ZONE_ABBREVIATIONS: readonly string[] = [...MINUTES.keys()]
