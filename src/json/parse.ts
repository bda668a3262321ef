import { isUtf8 } from 'node:buffer'
import { buildValue } from './build.ts'
import type { JsonCuts } from './cuts.ts'
import { invalidJson } from './invalid.ts'
import { checkValues, type JsonRules, mostValues } from './rules.ts'
import { isBlank, JsonScanner } from './scan.ts'

/** A body of no more bytes is parsed at once: that takes some 10 ms at worst, and a twentieth of it as a rule. */
export const MOST_AT_ONCE_BYTES = 262_144

/** Bytes that are scanned between two looks at the clock: a quarter of a millisecond. */
const SCAN_BYTES = 131_072

/** Cooperative scheduling of long work: when it should yield to the event loop, and how. */
export interface Yields {
  readonly isDue: boolean
  /** Rejects when the work is not wanted any more. */
  yield(): Promise<void>
}

/**
 * A body's JSON, parsed at once; names stay what they are: JSON.parse makes `__proto__` a field like any other.
 * @throws INVALID_JSON
 */
export function parseJson(bytes: Buffer): unknown {
  const start = startOf(bytes)
  try {
    return JSON.parse(bytes.toString('utf8', start))
  } catch (error) {
    // V8 ends some of its sentences with what ours begins with.
    throw invalidJson((error as Error).message.replace(/ is not valid JSON$/, '').slice(0, 200))
  }
}

/**
 * The same of a body of any length, which yields to the event loop while it scans and parses it cut by cut.
 * @param hold called, before anything is made, with the number of values there will be
 * Rejects with INVALID_JSON, LIMIT_JSON, what the rules and `hold` throw.
 */
export async function readJson(
  bytes: Buffer,
  rules: JsonRules,
  yields: Yields,
  hold: (values: number) => void = () => {},
): Promise<unknown> {
  const cuts = await cutJson(bytes, rules, yields, hold, mostValues(bytes.length))
  if (cuts === null) return parseJson(bytes)
  const steps = buildValue(cuts)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (yields.isDue) await yields.yield()
  }
}

/**
 * Where a long body can be cut, all of it scanned and its rules checked.
 * @returns `null` for one that is parsed at once, since it is short, or is neither an object nor an array
 */
export async function cutJson(
  bytes: Buffer,
  rules: JsonRules,
  yields: Yields,
  hold: (values: number) => void = () => {},
  mostValues = Number.POSITIVE_INFINITY,
): Promise<JsonCuts | null> {
  if (bytes.length <= MOST_AT_ONCE_BYTES) return null
  const start = startOf(bytes)
  if (!opensContainer(bytes, start)) return null
  const scanner = new JsonScanner(bytes, start, rules)
  for (let isDone = false; !isDone; ) {
    isDone = scanner.scan(SCAN_BYTES)
    checkValues(scanner.values, mostValues)
    if (yields.isDue) await yields.yield()
  }
  hold(scanner.values)
  return { bytes, cuts: scanner.cuts }
}

/** Where the text begins, behind a byte order mark. */
function startOf(bytes: Buffer): number {
  if (!isUtf8(bytes)) throw invalidJson('it is not UTF-8')
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  if (bytes.length === start) throw invalidJson('it is empty')
  return start
}

function opensContainer(bytes: Buffer, start: number): boolean {
  let at = start
  while (isBlank(bytes[at])) at++
  return bytes[at] === 0x7b || bytes[at] === 0x5b
}
