import type { PointColumns } from '../../series/columns.ts'
import type { Part, PartInfo, Tombstone } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { readRun } from '../parts/parts.fixture.ts'

/** The points of each tag as text, time by time, as readers of these parts see them: the rules of docs/storage.md. */
export function readAll(store: PartStore, infos: readonly PartInfo[]): Map<number, Map<number, string>> {
  const parts = infos.toSorted((a, b) => a.lastSequence - b.lastSequence).map((info) => store.open(info))
  const tombstones = parts.flatMap((part) => [...part.tombstones])
  const tags = new Map<number, Map<number, string>>()
  for (const part of parts) {
    for (const tag of part.tags()) {
      const points = tags.get(tag) ?? new Map<number, string>()
      addPoints(points, readRun(part, tag)!, covering(part, tag, tombstones))
      if (points.size > 0) tags.set(tag, points)
    }
  }
  for (const part of parts) part.close()
  return tags
}

function covering({ info }: Part, tag: number, tombstones: readonly Tombstone[]): readonly Tombstone[] {
  return tombstones.filter((one) => one.tag === tag && one.sequence > info.lastSequence)
}

function addPoints(
  all: Map<number, string>,
  { times, values, statuses }: PointColumns,
  cuts: readonly Tombstone[],
): void {
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!
    if (cuts.some(({ from, to }) => from <= time && time < to)) continue
    all.set(time, `${Object.is(values[i], -0) ? '-0' : values[i]} ${statuses[i]}`)
  }
}

/** Fails where a part overlaps the time of others with numbers among theirs: what is newest would not be told. */
export function overlapOf(parts: readonly PartInfo[]): string | null {
  for (const [i, a] of parts.entries()) {
    for (const b of parts.slice(i + 1)) {
      const inTime = a.firstTime <= b.lastTime && b.firstTime <= a.lastTime
      const inSequence = a.firstSequence <= b.lastSequence && b.firstSequence <= a.lastSequence
      if (a.points > 0 && b.points > 0 && inTime && inSequence) return `${a.name} and ${b.name} overlap`
    }
  }
  return null
}
