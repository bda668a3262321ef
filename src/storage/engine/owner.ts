import type { RetentionMeasures } from '../../historian/measures.ts'
import type { ArchiveWriter } from '../archive/archive-thread.ts'
import type { CatalogStore } from '../catalog/tag-catalog.ts'
import type { Clock } from '../clock.ts'
import { type Files, isWithoutSpace } from '../files/files.ts'
import type { ManifestWriter } from '../manifest/manifest-file.ts'
import type { Merger, PlanMerge } from '../merge/merge.ts'
import { type Ownership, Superseded, tokenText } from '../ownership/ownership.ts'
import type { Packer } from '../parts/packer.ts'
import type { PartStore } from '../parts/part-store.ts'
import type { LogWriter } from '../wal/log-writer.ts'
import type { Publisher } from '../wal/publication.ts'
import { type ArchiveSettings, Archiving } from './archiving.ts'
import type { ChangeKind } from './backlog.ts'
import { Committer } from './committer.ts'
import type { EngineLimits } from './engine-limits.ts'
import type { EngineState } from './engine-state.ts'
import { Expiry } from './expiry.ts'
import { Flusher } from './flusher.ts'
import type { Folders } from './folders.ts'
import type { Garbage } from './garbage.ts'
import { Merging } from './merging.ts'
import { PartsAside } from './parts-aside.ts'
import type { Reserve } from './reserve.ts'
import { RetentionKeeper, type RetentionOptions } from './retention-keeper.ts'
import { Trouble, type TroubleLog } from './trouble.ts'
import { VersionLog } from './version-log.ts'

/** What an owner works with, opened. */
export interface OwnerParts {
  readonly files: Files
  readonly folders: Folders
  readonly state: EngineState
  readonly ownership: Ownership
  readonly log: LogWriter
  /** That what writes the log has ended by itself, until it is written again. */
  readonly logTrouble: Trouble
  readonly manifest: ManifestWriter
  readonly publisher: Publisher
  readonly store: PartStore
  /** Packs large flushes beside this thread; `null` where everything happens in it. */
  readonly packer: Packer | null
  readonly catalogs: CatalogStore
  readonly merger: Merger
  readonly planMerge: PlanMerge
  readonly planIdleMerge: PlanMerge
  readonly planThoroughMerge: PlanMerge
  readonly garbage: Garbage
  readonly reserve: Reserve
  readonly limits: EngineLimits
  /** Rules of retention; left out, watermarks stay as they are. */
  readonly retention?: RetentionOptions | undefined
  readonly troubleLog: TroubleLog | null
  /** Where the log is archived; `null` for nowhere. */
  readonly archive: { readonly settings: ArchiveSettings; readonly writer: ArchiveWriter } | null
  readonly clock: Clock
  /** Called after a flush with the number of a record up to which all is on disk, and published. */
  readonly reached: ((lastSequence: number) => void) | null
}

/** The process that changes a historian: commits, flushes, merges, and removes what is needed no more. */
export class Owner {
  readonly committer: Committer
  /** Moves watermarks; `null` where they stay as they are. */
  readonly retention: RetentionKeeper | null
  readonly #parts: OwnerParts
  readonly #flusher: Flusher
  readonly #merging: Merging
  readonly #versions: VersionLog
  readonly #flushTrouble: Trouble
  readonly #mergeTrouble: Trouble
  readonly #partsAside: PartsAside
  readonly #publishTrouble: Trouble
  readonly #archiving: Archiving | null
  #publishTimer: NodeJS.Timeout | null = null
  #nextPart = 1

  constructor(parts: OwnerParts) {
    this.#parts = parts
    const { state, ownership, log, manifest, reserve, limits, troubleLog, folders, garbage } = parts
    const { historian } = state
    this.#flushTrouble = new Trouble(historian, UNFLUSHED, troubleLog)
    this.#mergeTrouble = new Trouble(historian, 'parts cannot be merged', troubleLog)
    this.#partsAside = new PartsAside(historian, limits.mergeAsideMs, troubleLog)
    this.#publishTrouble = new Trouble(
      historian,
      'changes cannot be published to other processes',
      troubleLog,
    )
    const publish = () => this.#publish()
    this.committer = new Committer({
      state,
      log,
      ownership,
      reserve,
      recordBytes: limits.recordBytes,
      publish,
      durable: () => parts.logTrouble.over(),
      refusal: (kind) => this.#refusal(kind),
      committed: () => this.#flusher.goOn(),
      room: (kind, points) => this.#flusher.roomFor(kind, points),
      makeRoom: () => this.#makeRoom(),
      roomComing: () => this.#flusher.running ?? this.#merging.running ?? reserve.taking,
    })
    const between = (run: () => void) => this.committer.between(run)
    this.#archiving =
      parts.archive === null
        ? null
        : new Archiving({ ...parts, ...parts.archive, folder: folders.wal, between }, manifest.version)
    const dropped = (folder: 'manifest' | 'parts', names: readonly string[]) =>
      garbage.add(folders[folder], names)
    this.#versions = new VersionLog(manifest, ownership, state.parts, between, publish, dropped)
    const namePrefix = `${tokenText(ownership.token)}-`
    this.#flusher = new Flusher({
      state,
      log,
      versions: this.#versions,
      store: parts.store,
      packer: parts.packer,
      catalogs: parts.catalogs,
      reserve,
      trouble: this.#flushTrouble,
      limits: limits.flush,
      partName: () => `${namePrefix}${tokenText(this.#takeNumbers(1))}.part`,
      between,
      keptBeside: (segments) => this.#archiving?.keptBeside(segments) ?? [],
      makeRoom: () => this.#makeRoom(),
      dropped: (segments, catalog) => {
        const names = segments.map(({ name }) => name)
        if (this.#archiving === null) garbage.add(folders.wal, names)
        else this.#archiving.drop(segments)
        if (catalog !== null) garbage.add(folders.catalog, [catalog])
      },
      flushed: (isHasty) => this.#flushed(isHasty),
    })
    this.#merging = new Merging({
      parts: state.parts,
      reserve,
      roomBytes: () => parts.files.freeBytes(folders.parts) + reserve.bytesThere,
      makeRoom: (isFull) => garbage.settle(isFull),
      versions: this.#versions,
      merger: parts.merger,
      plan: parts.planMerge,
      planIdle: parts.planIdleMerge,
      idleAfterMs: limits.idleMergeAfterMs,
      planThorough: parts.planThoroughMerge,
      thoroughEveryMs: limits.thoroughMergeEveryMs,
      reclaimAfterMs: limits.reclaimAfterMs,
      limits: limits.merge,
      trouble: this.#mergeTrouble,
      aside: this.#partsAside,
      expiry: new Expiry(state),
      folder: folders.parts,
      namePrefix,
      takeNumbers: (count) => this.#takeNumbers(count),
    })
    this.#publish()
    this.retention =
      parts.retention === undefined
        ? null
        : new RetentionKeeper({
            options: parts.retention,
            everyMs: limits.retentionEveryMs,
            files: parts.files,
            folder: folders.root,
            state,
            committer: this.committer,
            versions: this.#versions,
            reserve,
            makeRoom: () => garbage.settle(true),
            trouble: new Trouble(historian, 'watermarks of retention cannot be moved', troubleLog),
            log: troubleLog,
            moved: () => this.#merging.trim(),
          })
    void reserve.take()
    this.#merging.goOn()
    this.#flusher.goOn()
  }

  /** What somebody should look at although reads are answered; `null` for nothing. */
  get trouble(): string | null {
    return (
      this.#parts.logTrouble.sentence ??
      this.#publishTrouble.sentence ??
      this.#flushTrouble.sentence ??
      this.#mergeTrouble.sentence ??
      this.#partsAside.sentence ??
      this.#archiving?.trouble ??
      this.retention?.sentence ??
      null
    )
  }

  /** Seconds since which changes may be that are not archived; `null` where nothing is. */
  get archiveLagSeconds(): number | null {
    return this.#archiving?.lagSeconds ?? null
  }

  /** What retention has done; `null` where there are no rules. */
  get retentionMeasures(): RetentionMeasures | null {
    const measures = this.retention?.measures ?? null
    return measures === null ? null : { ...measures, ...this.#merging.trimmed }
  }

  /** Throws WRITE_FAILED where another process owns it now. */
  checkOwner(): void {
    const { state, ownership } = this.#parts
    try {
      ownership.check()
    } catch (error) {
      throw error instanceof Superseded ? state.errors.superseded(error) : error
    }
  }

  /** Throws what writes get now. */
  check(): void {
    this.checkOwner()
    const refusal = this.#refusal('points')
    if (refusal !== null) throw refusal
  }

  /** What another process reads, by the number of its version; `null` for nothing any more. */
  readerAt(reader: number, version: number | null): void {
    this.#parts.garbage.readerAt(reader, version)
  }

  /** Flushes what is in memory, and merges what is to be merged. */
  async flush(): Promise<void> {
    const { errors } = this.#parts.state
    try {
      await this.#flusher.flush()
    } catch (error) {
      throw errors.ofChange(error)
    }
    await this.#merging.idle()
  }

  /** Moves watermarks by the clock, and removes what lies behind them. */
  async retain(): Promise<void> {
    await this.retention?.runAnew()
    await this.#merging.idle()
  }

  /** Finishes what was asked for. What is in memory stays in the log. */
  async close(): Promise<void> {
    const { garbage, publisher, log, manifest, catalogs, reserve, ownership } = this.#parts
    await this.retention?.close()
    await this.committer.idle()
    await this.#flusher.close()
    await this.#merging.close()
    await this.#versions.idle()
    await this.committer.idle()
    await this.#archiving?.close()
    await garbage.close()
    await reserve.close()
    if (this.#publishTimer !== null) clearTimeout(this.#publishTimer)
    publisher.close()
    manifest.close()
    catalogs.close()
    await log.close()
    ownership.release()
  }

  /** On a full disk: waits for files that are being removed, or gives up what only the archive needs. */
  async #makeRoom(): Promise<boolean> {
    return (await this.#parts.garbage.settle(true)) || (this.#archiving?.makeRoom() ?? false)
  }

  /** What is set aside for a full disk is for what takes something away. */
  #refusal(kind: ChangeKind): Error | null {
    const { reserve, state } = this.#parts
    if (kind !== 'removal' && reserve.isSpent) return state.errors.writeFailed(reserve.spentBecause)
    if (!this.#flusher.isOverfull(kind)) return null
    return state.errors.writeFailed(`${UNFLUSHED} (${this.#flushTrouble.reason}), and too many wait there`)
  }

  #flushed(isHasty: boolean): void {
    void this.#parts.reserve.take()
    this.#merging.goOn(isHasty)
    // What could not be published yet is not there for those that read beside this process.
    if (this.#publishTrouble.reason === null)
      this.#parts.reached?.(this.#parts.state.memtable.nextSequence - 1)
  }

  /**
   * What cannot be published now is published soon, or with what comes next: it counts all the same, and is read here.
   * Until then others lack it, so that on a full disk it takes what is set aside.
   */
  #publish(): boolean {
    if (this.#publishTimer !== null) clearTimeout(this.#publishTimer)
    this.#publishTimer = null
    try {
      try {
        this.#publishNow()
      } catch (error) {
        if (!isWithoutSpace(error) || !this.#parts.reserve.giveUp(error)) throw error
        this.#publishNow()
      }
      this.#publishTrouble.over()
      return true
    } catch (error) {
      // Until then what others may read takes room.
      if (isWithoutSpace(error)) void this.#parts.garbage.settle(true)
      this.#publishTimer = setTimeout(() => this.#publishAgain(), this.#publishTrouble.failed(error))
      this.#publishTimer.unref()
      return false
    }
  }

  #publishAgain(): void {
    try {
      this.#parts.ownership.check()
    } catch {
      // Nobody reads what it publishes any more.
      return
    }
    this.#publish()
  }

  #publishNow(): void {
    const { publisher, log, garbage, state } = this.#parts
    const { number, bytes } = this.#versions.shown
    publisher.publish({ ...log.position, manifest: number, manifestBytes: bytes })
    garbage.published(state.parts.current.version.number)
  }

  #takeNumbers(count: number): number {
    const first = this.#nextPart
    this.#nextPart += count
    return first
  }
}

const UNFLUSHED = 'points cannot be moved from memory into parts'
