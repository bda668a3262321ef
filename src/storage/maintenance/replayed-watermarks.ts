import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import type { Version } from '../manifest/version.ts'
import { tokenText } from '../ownership/ownership.ts'
import { NO_WATERMARK, TagWatermarks } from '../retention/tag-watermarks.ts'
import { readLog } from '../wal/read-log.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'

/**
 * The watermarks of a copy for what is replayed in it. Watermarks are in the manifest, which no archive has: when rules
 * were exchanged after the backup, the log may have points at or before the watermarks of the backup, which were
 * acknowledged and read. The rules that would hide them begin without a watermark.
 * @param version  with the segments that are replayed next as its accepted ones
 */
export async function replayedWatermarks(
  files: Files,
  folders: Folders,
  version: Version,
): Promise<RetentionState | null> {
  const { retention } = version
  if (retention === null) return null
  const catalogs = openCatalogStore(files, folders.catalog, tokenText(version.token))
  try {
    const catalog = await catalogs.load(version.catalog)
    const watermarks = new TagWatermarks()
    const hiding = new Set<number>()
    readLog(files, folders.wal, version, null, {
      take({ catalog: changes, points }) {
        if (changes !== null) catalog.apply(changes)
        if (points !== null) {
          addHiding(hiding, points, retention, (tag) => watermarks.ruleOf(retention, catalog, tag))
        }
      },
      damaged() {
        // It is reported when the log is read to be flushed.
      },
    })
    return {
      ...retention,
      watermarks: retention.watermarks.map((time, rule) => (hiding.has(rule) ? NO_WATERMARK : time)),
    }
  } finally {
    catalogs.close()
  }
}

/** Adds the rules whose watermarks are not before all points of their tags. */
function addHiding(
  hiding: Set<number>,
  { tags, offsets, points }: PointsOfTags,
  { watermarks }: RetentionState,
  ruleOf: (tag: number) => number | null,
): void {
  for (let i = 0; i < tags.length; i++) {
    const rule = ruleOf(tags[i]!)
    if (rule === null || hiding.has(rule)) continue
    const watermark = watermarks[rule]!
    if (points.times.subarray(offsets[i], offsets[i + 1]).some((time) => time <= watermark)) hiding.add(rule)
  }
}
