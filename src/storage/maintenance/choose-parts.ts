import type { PartInfo } from '../parts/part.ts'

/** A part by what its file says of itself. */
export interface FoundPart {
  readonly info: PartInfo
  /** Names of those that a merge made it of; empty for one that a flush wrote. */
  readonly replaces: readonly string[]
}

/**
 * The parts that count of those whose files are there, where no manifest says it. What a merge made counts when one of
 * those that it replaced is gone: these are removed after the manifest named it. Then what those replaced counts no
 * more either, as it is there for readers alone; and what else the same merge made does. While all of them are there it
 * may be one of several that were not finished: they count, and have all that it has.
 */
export function chooseParts(found: readonly FoundPart[]): PartInfo[] {
  const there = new Map(found.map((part) => [part.info.name, part]))
  const replaced = new Set<string>()
  const replace = (names: readonly string[]) => {
    for (const name of names) {
      if (replaced.has(name)) continue
      replaced.add(name)
      replace(there.get(name)?.replaces ?? [])
    }
  }
  const isFinished = ({ replaces }: FoundPart) =>
    replaces.some((name) => !there.has(name) || replaced.has(name))
  for (const part of found) if (part.replaces.some((name) => !there.has(name))) replace(part.replaces)
  return found
    .filter((part) => !replaced.has(part.info.name) && (part.replaces.length === 0 || isFinished(part)))
    .map(({ info }) => info)
    .sort((a, b) => a.lastSequence - b.lastSequence || a.firstTime - b.firstTime)
}
