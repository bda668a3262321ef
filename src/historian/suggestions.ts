import { editDistance } from '../errors/edit-distance.ts'
import type { Issue } from '../errors/tidemark-error.ts'
import { formatAddress, parseAddress } from '../grammar/address.ts'
import { foldCase } from '../series/tag-names.ts'
import type { CallContext, Historian } from './contract.ts'
import type { HistorianView } from './registry.ts'
import { parseTagPattern } from './tag-pattern.ts'
import { ALIASES, isAliases } from './visible-aliases.ts'

/** Missing tags of one call that are compared with others; a call may name thousands. */
const MOST_TAGS = 5
/** Names that are given for one tag. */
const MOST_NAMES = 3
/** Names that one search may find to be compared. */
const MOST_COMPARED = 200
/** All searches of a call together; a slow historian must not hold up the errors of the others. */
const LONGEST_MS = 250
/** The rest of a longer name is not compared. */
const LONGEST_NAME = 80
/** A dashboard asks for the same missing tag again and again. */
const KEPT_MS = 60_000
const MOST_KEPT = 1_000

type Searched = Pick<Historian, 'searchTags'>

interface Kept {
  readonly at: number
  readonly names: readonly string[]
}

const kept = new WeakMap<Searched, Map<string, Kept>>()

/**
 * Issues with `suggestions` where a tag or a historian does not exist: the nearest names by their beginning and by edit
 * distance, of what the caller sees. The first few missing tags are looked at. Never rejects; without an answer in time
 * there are none.
 * @returns the issues themselves where nothing is added
 */
export async function withSuggestions(
  issues: readonly Issue[],
  historians: HistorianView,
  { signal }: CallContext,
): Promise<readonly Issue[]> {
  const found = new Map<string, Promise<readonly string[]>>()
  const context = { signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]) }
  const pending = issues.map((issue) => {
    const address = missingOf(issue)
    if (address === null) return null
    if (!found.has(address) && found.size < MOST_TAGS) {
      const searching = suggestionsFor(address, historians, context)
      found.set(
        address,
        Promise.race([searching, ended(context.signal)]).catch(() => []),
      )
    }
    return found.get(address) ?? null
  })
  if (found.size === 0) return issues
  // Of a few addresses; very many issues can wait for each.
  const suggestions = new Map<Promise<readonly string[]>, readonly string[]>()
  for (const promise of found.values()) suggestions.set(promise, await promise)
  return issues.map((issue, index) => {
    const promise = pending[index]!
    const names = promise === null ? [] : suggestions.get(promise)!
    return names.length === 0 ? issue : { ...issue, suggestions: names }
  })
}

/** A promise of nothing when the time is over: a driver may not listen to the signal. */
function ended(signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve([])
    signal.addEventListener('abort', () => resolve([]), { once: true })
  })
}

/** Address of what an issue says does not exist; `null` for any other issue. */
function missingOf({ code, tag, input }: Issue): string | null {
  return code === 'TAG_NOT_FOUND' || code === 'HISTORIAN_NOT_FOUND' ? (input ?? tag ?? null) : null
}

async function suggestionsFor(
  address: string,
  historians: HistorianView,
  context: CallContext,
): Promise<readonly string[]> {
  const parsed = parseAddress(address)
  if (parsed === null) return []
  const { historian: name, tag } = parsed
  if (isAliases(name)) {
    if (historians.aliases === null) return []
    return (await nearestTags(historians.aliases, tag, context)).map((near) => formatAddress(ALIASES, near))
  }
  const historian = historians.find(name)
  if (historian === null) {
    const names = historians.list().map((candidate) => candidate.name)
    return nearest(name, names).map((near) => formatAddress(near, tag))
  }
  const names = await rememberedTags(historian, tag, context)
  return names.map((near) => formatAddress(name, near))
}

/** As nearestTags, from memory where the same was searched for a moment ago. */
async function rememberedTags(
  historian: Searched,
  tag: string,
  context: CallContext,
): Promise<readonly string[]> {
  const ofHistorian = kept.get(historian) ?? new Map<string, Kept>()
  kept.set(historian, ofHistorian)
  const before = ofHistorian.get(tag)
  if (before !== undefined && performance.now() - before.at < KEPT_MS) return before.names
  const names = await nearestTags(historian, tag, context)
  if (ofHistorian.size >= MOST_KEPT) ofHistorian.clear()
  ofHistorian.set(tag, { at: performance.now(), names })
  return names
}

/** Searches for names with the same beginning, then for longer names, then with less in common, until one is near. */
async function nearestTags(
  historian: Searched,
  tag: string,
  context: CallContext,
): Promise<readonly string[]> {
  const characters = [...tag].slice(0, LONGEST_NAME)
  const first = (part: number) => characters.slice(0, Math.ceil(characters.length * part)).join('')
  const last = characters.slice(-Math.ceil(characters.length * 0.6)).join('')
  const whole = characters.join('')
  for (const glob of new Set([`${first(0.6)}*`, `*${whole}*`, `${first(0.3)}*`, `*${last}`])) {
    const query = { pattern: parseTagPattern(glob), after: null, limit: MOST_COMPARED }
    const { tags } = await historian.searchTags(query, context)
    const near = nearest(
      tag,
      tags.map(({ name }) => name),
    )
    if (near.length > 0) return near
  }
  return []
}

/** The names that are near to one, the nearest first. */
function nearest(wanted: string, names: readonly string[]): readonly string[] {
  const folded = foldCase(wanted).slice(0, LONGEST_NAME)
  const most = Math.max(1, Math.floor(folded.length / 3))
  const near: { readonly name: string; readonly distance: number }[] = []
  for (const name of names) {
    const distance = distanceOf(folded, foldCase(name).slice(0, LONGEST_NAME))
    if (distance <= most) near.push({ name, distance })
  }
  near.sort((a, b) => a.distance - b.distance)
  return near.slice(0, MOST_NAMES).map(({ name }) => name)
}

/** Edit distance; what one name has more than the other at an end or at both counts little. */
function distanceOf(wanted: string, name: string): number {
  const extra = Math.abs(name.length - wanted.length) / LONGEST_NAME
  if (name.startsWith(wanted) || wanted.startsWith(name)) return 0.25 + extra / 2
  if (name.includes(wanted)) return 0.5 + extra / 2
  return editDistance(wanted, name)
}
