import type { PointColumns } from '../../series/columns.ts'
import { coveredOf } from '../merge/reclaim.ts'
import { countPoints } from '../reads/point-reads.ts'
import { hiddenSpans, keptInSlices } from '../retention/kept-points.ts'
import { carriedOver, type RetentionRule, watermarksAt } from '../retention/rules.ts'
import { NO_WATERMARK, TagWatermarks } from '../retention/tag-watermarks.ts'
import type { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'
import type { LivePart } from './part-set.ts'
import { idsNow, TagNow } from './tag-now.ts'

/** What a rule would remove. */
export interface RulePreview {
  readonly match: string
  /** Up to which time, in microseconds since 1970. */
  readonly until: number
  /** Tags that the rule counts for. */
  readonly tags: number
  /** Points that reads show now and would not show then. */
  readonly points: number
  /** Estimate of what goes of files, those that are hidden already among it. */
  readonly bytes: number
}

/** What rules would remove of a historian, and what stays. */
export interface RetentionPreview {
  readonly rules: readonly RulePreview[]
  /** Tags that no rule matches. */
  readonly keptTags: number
  readonly files: number
  /** Files that go but for the points that stay of them. */
  readonly wholeFiles: number
  /** Further files that become smaller. */
  readonly smallerFiles: number
}

/** What has expired of a part. */
interface PartShare {
  /** Points at or before watermarks, those that stay among them. */
  old: number
  covered: number
}

/**
 * Works out what rules would remove at a time, by the rules, watermarks and parts of a state, and the points that each
 * tag has when it is come to; changes nothing. Rejects with Damage where points cannot be read.
 */
export async function previewRetention(
  state: EngineState,
  snapshot: EngineSnapshot,
  rules: readonly RetentionRule[],
  nowUs: number,
): Promise<RetentionPreview> {
  const { version, parts } = snapshot.set
  const before = version.retention
  const after = watermarksAt(rules, before === null ? null : carriedOver(rules, before), nowUs)
  const watermarks = new TagWatermarks()
  const shares = parts.map((): PartShare => ({ old: 0, covered: 0 }))
  const found = after.matches.map(() => ({ tags: 0, points: 0, bytes: 0 }))
  let keptTags = 0
  for (const id of idsNow(state)) {
    // Looked at once more when it goes on: a read that waited, too, may have gone first, and begun to take more.
    for (let wait = state.catchingUp(); wait !== null; wait = state.catchingUp()) await wait
    const { catalog } = state
    const name = catalog.get(id)?.name
    if (name === undefined) continue
    const rule = watermarks.ruleOf(after, catalog, id, name)
    if (rule === null) keptTags++
    else {
      const one = found[rule]!
      const watermark = after.watermarks[rule]!
      const now = new TagNow(state, id)
      const shown = state.watermarks.of(before, catalog, id)
      one.tags++
      try {
        const keptOf = keptOnce(now, watermark, snapshot)
        one.points += await pointsOf(now, snapshot, shown, watermark, keptOf)
        one.bytes += await bytesOf(parts, id, watermark, shares, keptOf)
      } finally {
        now.release()
      }
    }
    if (snapshot.isDue()) await snapshot.pause()
  }
  const isWhole = (share: PartShare, index: number) =>
    share.old > 0 && share.old === parts[index]!.info.points
  return {
    rules: after.matches.map((match, index) => {
      const { tags, points, bytes } = found[index]!
      return { match, until: after.watermarks[index]!, tags, points, bytes: Math.round(bytes) }
    }),
    keptTags,
    files: parts.length,
    wholeFiles: shares.filter(isWhole).length,
    smallerFiles: shares.filter((share, index) => !isWhole(share, index) && share.covered > 0).length,
  }
}

/** Gives the points of a tag that stay; they are looked for once, when they are first asked for. */
function keptOnce(now: TagNow, watermark: number, snapshot: EngineSnapshot): () => Promise<PointColumns> {
  let kept: Promise<PointColumns> | null = null
  return () => {
    kept ??= keptInSlices(now.blocks(NO_WATERMARK), watermark, snapshot)
    return kept
  }
}

/** How many points of a tag its watermark shows and another one would not. */
async function pointsOf(
  now: TagNow,
  snapshot: EngineSnapshot,
  before: number,
  after: number,
  keptOf: () => Promise<PointColumns>,
): Promise<number> {
  if (after <= before) return 0
  const shown = await countPoints(now.blocks(before), -EVER, after + 1, Number.POSITIVE_INFINITY, snapshot)
  return shown === 0 ? 0 : shown - (await keptOf()).times.length
}

/** About how many bytes of parts a tag would leave, and what that is of each part. */
async function bytesOf(
  parts: readonly LivePart[],
  tag: number,
  watermark: number,
  shares: readonly PartShare[],
  keptOf: () => Promise<PointColumns>,
): Promise<number> {
  let bytes = 0
  let hidden: ReturnType<typeof hiddenSpans> | null = null
  for (const [index, { info, part }] of parts.entries()) {
    if (part === null || info.firstTime > watermark || !part.has(tag)) continue
    const run = part.run(tag)!
    if (run.firstTime > watermark) continue
    hidden ??= hiddenSpans(await keptOf())
    const covered = coveredOf(run, hidden)
    const share = shares[index]!
    share.covered += covered
    if (run.lastTime <= watermark) share.old += run.count
    bytes += (info.bytes * covered) / info.points
  }
  return bytes
}

const EVER = Number.MAX_SAFE_INTEGER
