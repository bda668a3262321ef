import { join } from 'node:path'
import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import { systemClock } from '../clock.ts'
import { Damage, LostRecords } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import type { RecordRange } from '../wal/counted.ts'
import { findHeader } from '../wal/find-header.ts'
import { LogRewriter, removeUnfinished } from '../wal/log-rewriter.ts'
import { type FindHeader, type LogTarget, readLog, readSegmentHeader } from '../wal/read-log.ts'
import { RemovedSpans } from '../wal/removed-spans.ts'
import { parseSegmentName } from '../wal/segment.ts'
import type { WalPosition, WalRecord } from '../wal/wal-record.ts'
import { highestTagOf } from './find-catalog.ts'
import { RepairedTags } from './repaired-tags.ts'

/** A log, and how it is read. */
export interface ReadableLog {
  /** The one that the log follows. */
  readonly version: Version
  /** The last that is known of its owner; `null` for nothing. */
  readonly published: WalPosition | null
}

/** What a look at a log found. */
export interface LogState {
  readonly isSound: boolean
  /** The segments that count, and their bytes. */
  readonly accepted: readonly AcceptedSegment[]
  /** Number of the last record, also of one that is known to be lost. */
  readonly last: number
}

/** A log that was written anew. */
export interface RewrittenLog {
  /** What counts in place of all that counted before. */
  readonly accepted: readonly AcceptedSegment[]
  /** One sentence each. */
  readonly lost: readonly string[]
}

/** So many ranges of lost records are told one by one. */
const MOST_RANGES = 100

/** Reads a log, of which nothing is changed. Throws the system's errors. */
export function inspectLog(files: Files, folders: Folders, log: ReadableLog): LogState {
  let isSound = true
  let last = log.version.flushedSequence
  const target = {
    take({ sequence }: WalRecord) {
      last = Math.max(last, sequence)
    },
    damaged(damage: Damage) {
      isSound = false
      if (damage instanceof LostRecords) last = Math.max(last, damage.last)
    },
  }
  const accepted = readAsFarAsPossible(files, folders, log, target, () => {
    isSound = false
  }).map(({ name, bytes }) => ({ name, bytes }))
  return { isSound, accepted, last }
}

/** Whether a log has points of tags that neither it nor the catalog has. Throws Damage and the system's errors. */
export async function hasNamelessTags(files: Files, folders: Folders, log: ReadableLog): Promise<boolean> {
  const tags = await tagsOf(files, folders, log.version)
  readAsFarAsPossible(files, folders, log, { take: (record) => tags.take(record), damaged() {} })
  return tags.finish().named.length > 0
}

async function tagsOf(
  files: Files,
  folders: Folders,
  { catalog: ref, parts }: Version,
): Promise<RepairedTags> {
  const catalogs = openCatalogStore(files, folders.catalog, '')
  const catalog = await catalogs.load(ref)
  catalogs.close()
  return new RepairedTags(catalog, highestTagOf(files, folders, parts, 0))
}

/**
 * Writes a damaged log anew, as accepted segments: what is intact of it with the numbers that it had, empty records in
 * place of the lost ones, and behind them one with what the repair changes of tags (RepairedTags). What could not be
 * read stays where it is: nothing counts before a manifest names it. All of the log is in memory meanwhile, as at a
 * start.
 * @param token  of the owner that repairs
 * @param tell   gets what is lost before anything of the new log has a name that may count
 * Throws Damage for a catalog, or changes of one, that cannot be read, and the system's errors.
 */
export async function rewriteLog(
  files: Files,
  folders: Folders,
  log: ReadableLog,
  token: number,
  tell: (lost: readonly string[]) => void = () => {},
): Promise<RewrittenLog> {
  const { version } = log
  removeUnfinished(files, folders.wal)
  const tags = await tagsOf(files, folders, version)
  const rewriter = new LogRewriter(files, folders.wal, token, version.flushedSequence + 1, systemClock)
  const lost = new LostOfLog(version.flushedSequence)
  try {
    readAsFarAsPossible(files, folders, log, {
      take(record) {
        lost.taken(record.sequence)
        tags.take(record)
        rewriter.put(record)
      },
      damaged: (damage) => lost.damaged(damage),
      unstated: (records) => lost.unstated(records),
    })
    rewriter.fill(lost.last)
    const { changes, named } = tags.finish()
    rewriter.append({ catalog: changes, removed: RemovedSpans.none, points: null })
    const sentences = [...lost.sentences(), ...named]
    tell(sentences)
    return { accepted: rewriter.finish(), lost: sentences }
  } catch (error) {
    rewriter.abandon()
    throw error
  }
}

/**
 * Names of the segments that a version and its owner need, or keep for the archive, as far as their files are there:
 * they count no more when the log was written anew.
 */
export function replacedSegments(files: Files, folders: Folders, version: Version): readonly string[] {
  const named = new Set([...version.accepted, ...version.kept].map(({ name }) => name))
  return files.list(folders.wal).filter((name) => {
    if (named.has(name)) return true
    return parseSegmentName(name)?.token === version.token && !isFlushed(files, folders, version, name)
  })
}

/** Whether a segment of the owner is only there as nobody has removed it yet. */
function isFlushed(files: Files, folders: Folders, version: Version, name: string): boolean {
  try {
    const header = readSegmentHeader(files, join(folders.wal, name))
    return header !== null && header.generation <= version.flushedGeneration
  } catch (error) {
    if (error instanceof Damage) return false
    throw error
  }
}

/** @param found  called for each segment whose header is damaged and that is read all the same */
function readAsFarAsPossible(
  files: Files,
  folders: Folders,
  { version, published }: ReadableLog,
  target: LogTarget,
  found: () => void = () => {},
): ReturnType<typeof readLog> {
  const find: FindHeader = (name, bytes, before) => {
    // It is read: records that are flushed are left out by their numbers.
    const header = findHeader(name, bytes, before, version.flushedGeneration + 1)
    if (header !== null) found()
    return header
  }
  return readLog(files, folders.wal, version, published, target, false, find)
}

/** Which records of a log are lost. */
class LostOfLog {
  /** Number of the last record that was read, or is known to be lost. */
  last: number
  #next: number
  readonly #ranges: RecordRange[] = []
  readonly #reasons = new Map<number, string>()
  /** What is damaged without its being known which records that are. */
  readonly #others: string[] = []
  readonly #flushed: number

  /** @param flushed  records up to this number are in parts */
  constructor(flushed: number) {
    this.#flushed = flushed
    this.#next = flushed + 1
    this.last = flushed
  }

  unstated(records: RecordRange): void {
    if (records.last > this.#flushed) this.#others.push(unstatedRecords(records))
  }

  taken(sequence: number): void {
    if (sequence > this.#next) this.#ranges.push({ first: this.#next, last: sequence - 1 })
    this.#next = sequence + 1
    this.last = Math.max(this.last, sequence)
  }

  damaged(damage: Damage): void {
    if (!(damage instanceof LostRecords)) this.#others.push(damage.message)
    else {
      if (damage.cause !== undefined) this.#reasons.set(damage.first, damage.message)
      this.last = Math.max(this.last, damage.last)
    }
  }

  /** When all was read. */
  sentences(): readonly string[] {
    if (this.last >= this.#next) this.#ranges.push({ first: this.#next, last: this.last })
    const said = namesOf(this.#ranges, (range) => this.#sentenceOf(range))
    return withConsequence([...said, ...new Set(this.#others)])
  }

  #sentenceOf(records: RecordRange): string {
    const { first, last } = records
    const reason = first === last ? this.#reasons.get(first) : undefined
    return `${nameOf(records)}${reason === undefined ? '' : `: ${reason}`}`
  }
}

/** One sentence for each range, for so many of them. */
function namesOf(ranges: readonly RecordRange[], sentenceOf: (range: RecordRange) => string): string[] {
  const said = ranges.slice(0, MOST_RANGES).map(sentenceOf)
  const more = ranges.length - said.length
  if (more > 0) said.push(`${more} more ranges of records of the log, up to record ${ranges.at(-1)!.last}`)
  return said
}

const withConsequence = (lost: readonly string[]) => (lost.length > 0 ? [...lost, CONSEQUENCE] : [])

/** What is said of records that are known to be lost, and of nothing else. */
export const lostRecords = (ranges: readonly RecordRange[]) => withConsequence(namesOf(ranges, nameOf))

const nameOf = ({ first, last }: RecordRange) =>
  first === last ? `record ${first} of the log` : `records ${first} to ${last} of the log`

/** What is said of records in whose place others may have been acknowledged. */
export const unstatedRecords = (records: RecordRange) =>
  `what was acknowledged as ${nameOf(records)}, if that was in a segment that is missing or damaged, and not what is there`

const CONSEQUENCE =
  'what the lost records of the log changed: points may be missing, points and tags that were deleted may be back, and ' +
  'tags may have earlier names and metadata'
