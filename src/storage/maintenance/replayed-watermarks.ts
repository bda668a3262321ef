import { WILDCARD } from '../../historian/tag-pattern.ts'
import { foldCase } from '../../series/tag-names.ts'
import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import type { TagCatalog } from '../catalog/tag-catalog.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import { MOST_RULES, type RetentionState } from '../manifest/retention-state.ts'
import type { Version } from '../manifest/version.ts'
import { tokenText } from '../ownership/ownership.ts'
import { NO_WATERMARK, TagWatermarks } from '../retention/tag-watermarks.ts'
import { readLog } from '../wal/read-log.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'

/**
 * The watermarks of a copy for what is replayed in it. Watermarks are in the manifest, which no archive has: when rules
 * were exchanged after the backup, the log may have points at or before the watermarks of the backup, which were
 * acknowledged and read. Each tag that has some gets a rule of its own name before all others, without a watermark;
 * other tags of its rule keep that one's. The next owner exchanges them for the configured rules.
 */
export class ReplayedWatermarks {
  readonly #files: Files
  readonly #folders: Folders
  readonly #backedUp: RetentionState | null
  /** Ids of the tags that would hide replayed points, of all rounds: each may have another name after the next one. */
  readonly #tags = new Set<number>()

  /** @param backedUp  of the backup */
  constructor(files: Files, folders: Folders, backedUp: RetentionState | null) {
    this.#files = files
    this.#folders = folders
    this.#backedUp = backedUp
  }

  /** For the tags as they are named after a round. @param version  with the round's segments as its accepted ones */
  async after(version: Version): Promise<RetentionState | null> {
    const retention = this.#backedUp
    if (retention === null) return null
    const catalogs = openCatalogStore(this.#files, this.#folders.catalog, tokenText(version.token))
    try {
      const catalog = await catalogs.load(version.catalog)
      const watermarks = new TagWatermarks()
      readLog(this.#files, this.#folders.wal, version, null, {
        take: ({ catalog: changes, points }) => {
          if (changes !== null) catalog.apply(changes)
          if (points !== null) this.#add(points, (tag) => watermarks.of(retention, catalog, tag))
        },
        damaged() {
          // It is reported when the log is read to be flushed.
        },
      })
      return withoutHiding(retention, this.#hiding(retention, catalog, watermarks))
    } finally {
      catalogs.close()
    }
  }

  /** Adds the tags whose watermarks are not before all of their points. */
  #add({ tags, offsets, points }: PointsOfTags, watermarkOf: (tag: number) => number): void {
    for (let i = 0; i < tags.length; i++) {
      const tag = tags[i]!
      if (this.#tags.has(tag)) continue
      const watermark = watermarkOf(tag)
      if (points.times.subarray(offsets[i], offsets[i + 1]).some((time) => time <= watermark))
        this.#tags.add(tag)
    }
  }

  /** Names of the tags by the rule that would hide points of theirs. */
  #hiding(retention: RetentionState, catalog: TagCatalog, watermarks: TagWatermarks): Map<number, string[]> {
    const hiding = new Map<number, string[]>()
    for (const tag of this.#tags) {
      const name = catalog.get(tag)?.name
      const rule = name === undefined ? null : watermarks.ruleOf(retention, catalog, tag, name)
      if (rule === null || retention.watermarks[rule] === NO_WATERMARK) continue
      const names = hiding.get(rule)
      if (names === undefined) hiding.set(rule, [name!])
      else names.push(name!)
    }
    return hiding
  }
}

/**
 * Rules with those of single tags before them. A rule with too many such tags, or one whose name would be a pattern,
 * begins without a watermark itself, and so does one of the same name: of two alike the next owner takes one.
 */
function withoutHiding(
  { clock, matches, watermarks }: RetentionState,
  hiding: ReadonlyMap<number, readonly string[]>,
): RetentionState {
  const dropped = new Set<number>()
  const single: string[] = []
  for (const [rule, names] of [...hiding].sort(([, a], [, b]) => a.length - b.length)) {
    const isTooMuch = matches.length + single.length + names.length > MOST_RULES
    if (isTooMuch || names.some((name) => WILDCARD.test(name))) dropped.add(rule)
    else single.push(...names)
  }
  const folded = new Set([...hiding.values()].flat().map(foldCase))
  return {
    clock,
    matches: [...single, ...matches],
    watermarks: [
      ...single.map(() => NO_WATERMARK),
      ...watermarks.map((time, rule) =>
        dropped.has(rule) || folded.has(foldCase(matches[rule]!)) ? NO_WATERMARK : time,
      ),
    ],
  }
}
