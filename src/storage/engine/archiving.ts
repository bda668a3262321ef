import { join } from 'node:path'
import { archiveFolderOf } from '../archive/archive-file.ts'
import type { ArchivePlace } from '../archive/archive-segment.ts'
import type { ArchiveWriter } from '../archive/archive-thread.ts'
import type { Clock } from '../clock.ts'
import type { Files } from '../files/files.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import type { Ownership } from '../ownership/ownership.ts'
import type { LogWriter } from '../wal/log-writer.ts'
import { SEGMENT_HEADER_BYTES } from '../wal/segment.ts'
import type { Garbage } from './garbage.ts'
import { Trouble, type TroubleLog } from './trouble.ts'

/** Where the log of a historian is archived, and how. */
export interface ArchiveSettings {
  /** A folder that is there. */
  readonly folder: string
  /** A record waits so long at most before its segment is completed and copied. */
  readonly everyMs: number
  /** Bytes on disk that are kept for the archive alone; beyond them the oldest segments go without being archived. */
  readonly keepBytes: number
}

export interface ArchivingParts {
  readonly files: Files
  readonly settings: ArchiveSettings
  readonly writer: ArchiveWriter
  readonly ownership: Ownership
  readonly log: LogWriter
  readonly garbage: Garbage
  readonly clock: Clock
  /** Folder of the WAL. */
  readonly folder: string
  readonly troubleLog: TroubleLog | null
  /** Runs something when no change is being worked out. */
  between(run: () => void): Promise<void>
}

/** A clean end waits so long for the archive. What is not there then is archived after the next start. */
const CLOSE_MS = 10_000

const FAILING = 'the log cannot be archived'

/**
 * Copies segments of the WAL to an archive, each when it is complete, in order. Those that are flushed are removed only
 * when they are there; the manifest names them until then (`Version.kept`), so that they survive a kill. Writes never
 * wait for it: where the archive cannot be written, segments are kept up to a limit, or until the disk is full.
 */
export class Archiving {
  readonly #parts: ArchivingParts
  readonly #place: ArchivePlace
  readonly #id: string
  readonly #trouble: Trouble
  /** Segments that are not archived yet, by name. */
  readonly #waiting = new Map<string, AcceptedSegment>()
  /** Those of them that nothing but the archive needs any more, with their bytes on disk. */
  readonly #kept = new Map<string, number>()
  /** Archived ones that are not flushed yet. */
  readonly #archived = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isClosed = false
  /** All that was committed until then is archived, on the monotonic clock; the start at first. */
  #archivedAtMs = performance.now()
  /** What was removed without being archived, also by earlier owners; `null` for nothing. */
  #gap: string | null = null

  constructor(parts: ArchivingParts, version: Version) {
    const { historian, id, kept, accepted } = version
    this.#parts = parts
    const { folder: archive } = parts.settings
    this.#place = { archive, folder: archiveFolderOf(archive, historian, id) }
    this.#id = id
    this.#trouble = new Trouble(historian, FAILING, parts.troubleLog)
    for (const segment of [...kept, ...accepted]) this.#waiting.set(segment.name, segment)
    for (const segment of kept) this.#kept.set(segment.name, this.#sizeOf(segment))
    this.#timer = setInterval(() => void this.#tick(), parts.settings.everyMs)
    this.#timer.unref()
    // What the owner before left; and an archive that is missing is reported at once.
    setImmediate(() => void this.#tick())
  }

  /** Seconds since which changes may be that are not archived, counted from the start at most. */
  get lagSeconds(): number {
    return (performance.now() - this.#archivedAtMs) / 1_000
  }

  /** What somebody should look at; `null` for nothing. */
  get trouble(): string | null {
    return this.#trouble.sentence ?? this.#gap
  }

  /** Segments that must stay when those of `flushed` are needed no more: what the manifest is to say. */
  keptBeside(flushed: readonly AcceptedSegment[]): readonly AcceptedSegment[] {
    const before = [...this.#waiting.values()].filter(({ name }) => this.#kept.has(name))
    return [...before, ...flushed.filter((segment) => this.#isWanted(segment))]
  }

  /** Takes segments that are flushed: they go when they are archived. */
  drop(segments: readonly AcceptedSegment[]): void {
    for (const segment of segments) {
      const { name } = segment
      if (this.#isWanted(segment)) {
        this.#waiting.set(name, segment)
        this.#kept.set(name, this.#sizeOf(segment))
      } else {
        this.#archived.delete(name)
        this.#parts.garbage.add(this.#parts.folder, [name])
      }
    }
    this.#limit(this.#parts.settings.keepBytes, 'more wait than may')
  }

  /** Gives up what is kept for the archive alone, as the disk is full. Gives whether there was anything. */
  makeRoom(): boolean {
    return this.#limit(0, 'the disk of the data is full')
  }

  /** Archives what there is, as far as that can be done soon. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    const lastTick = async () => {
      await this.#running
      await this.#tick()
    }
    await within(lastTick(), CLOSE_MS)
    this.#isClosed = true
    await within(this.#parts.writer.close(), CLOSE_MS)
  }

  /** One that has no groups is of no use to an archive. */
  #isWanted({ name, bytes }: AcceptedSegment): boolean {
    return bytes > SEGMENT_HEADER_BYTES && !this.#archived.has(name)
  }

  /** Completes the segment that is written, and archives all that are complete. Never rejects. */
  async #tick(): Promise<void> {
    if (this.#isClosed) return
    if (this.#running !== null) return this.#running
    this.#running = this.#archive()
      .then(() => this.#trouble.over())
      .catch((error: unknown) => {
        this.#trouble.failed(error)
      })
      .finally(() => {
        this.#running = null
      })
    return this.#running
  }

  async #archive(): Promise<void> {
    const { between, log, clock, writer } = this.#parts
    let until = 0
    let untilMs = 0
    let lastSequence = 0
    await between(() => {
      log.cut()
      // The next group may be committed in the same step of the clock.
      until = clock() - 1
      untilMs = performance.now()
      lastSequence = log.nextSequence - 1
      for (const segment of log.completed()) {
        if (this.#isWanted(segment)) this.#waiting.set(segment.name, segment)
      }
    })
    // Names sort in the order in which segments were written.
    for (const name of [...this.#waiting.keys()].sort()) await this.#archiveOne(name)
    if (this.#isClosed) return
    // Only an owner knows what was committed: one that was superseded would promise what its successor did not archive.
    this.#parts.ownership.check()
    await writer.mark(this.#place, { lastSequence, until })
    this.#archivedAtMs = untilMs
  }

  async #archiveOne(name: string): Promise<void> {
    const segment = this.#waiting.get(name)
    if (segment === undefined || this.#isClosed) return
    const { ownership, writer, folder, garbage } = this.#parts
    // What counts of it was known before: a successor that comes later counts it, too.
    ownership.check()
    const gap = await writer.archive({
      place: this.#place,
      id: this.#id,
      path: join(folder, name),
      bytes: segment.bytes,
    })
    if (gap !== null && this.#gap === null) {
      this.#gap = `records ${gap.first} to ${gap.last} of the log are not in the archive: make a backup`
      this.#parts.troubleLog?.error({ archive: this.#place.folder }, this.#gap)
    }
    this.#waiting.delete(name)
    if (this.#kept.delete(name)) garbage.add(folder, [name])
    else this.#archived.add(name)
  }

  /** With the zeros that reserve room in it, which are most of a segment of few groups. */
  #sizeOf({ name, bytes }: AcceptedSegment): number {
    const { files, folder } = this.#parts
    try {
      const file = files.open(join(folder, name))
      try {
        return file.size()
      } finally {
        file.close()
      }
    } catch {
      // What cannot be opened now is reported when it is archived.
      return bytes
    }
  }

  /** Removes the oldest of what is kept beyond so many bytes. */
  #limit(keepBytes: number, why: string): boolean {
    const kept = [...this.#kept.keys()].sort()
    let bytes = kept.reduce((sum, name) => sum + this.#kept.get(name)!, 0)
    const removed: string[] = []
    for (const name of kept) {
      if (bytes <= keepBytes) break
      bytes -= this.#kept.get(name)!
      this.#waiting.delete(name)
      this.#kept.delete(name)
      removed.push(name)
    }
    if (removed.length === 0) return false
    const { troubleLog, garbage, folder } = this.#parts
    this.#gap = 'segments of the log were removed without being archived: make a backup'
    troubleLog?.error({ segments: removed, why, archive: this.#trouble.reason }, this.#gap)
    garbage.removeNow(folder, removed)
    return true
  }
}

/** Waits for something that never rejects, but not for ever. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
