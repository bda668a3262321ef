import { ThreadEnded } from '../background-thread.ts'
import type { CatalogRef, CatalogStore } from '../catalog/tag-catalog.ts'
import { isWithoutSpace } from '../files/files.ts'
import type { AcceptedSegment } from '../manifest/version.ts'
import type { Packer, PartPacking } from '../parts/packer.ts'
import type { PartInfo, PartOrigin } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { Pacer, STEPS_OF_WORK } from '../pause.ts'
import type { LogWriter } from '../wal/log-writer.ts'
import { Backlog, type ChangeKind } from './backlog.ts'
import { copyPoints } from './copy-points.ts'
import type { FlushLimits } from './engine-limits.ts'
import type { EngineState } from './engine-state.ts'
import type { Reserve } from './reserve.ts'
import type { Trouble } from './trouble.ts'
import { LostPart, type VersionLog } from './version-log.ts'

/** What flushing takes beside the state. */
export interface FlusherParts {
  readonly state: EngineState
  readonly log: LogWriter
  readonly versions: VersionLog
  readonly store: PartStore
  /** Packs beside this thread; `null` where there is none. */
  readonly packer: Packer | null
  readonly catalogs: CatalogStore
  readonly reserve: Reserve
  readonly trouble: Trouble
  readonly limits: FlushLimits
  /** Name of a new part. */
  partName(): string
  /** Runs something when no change is being worked out. */
  between(run: () => void): Promise<void>
  /** Takes WAL segments, and the name of a file of the catalog, that are needed no more. */
  dropped(segments: readonly AcceptedSegment[], catalog: string | null): void
  /** Segments that must stay for others when these are needed no more. */
  keptBeside(segments: readonly AcceptedSegment[]): readonly AcceptedSegment[]
  /** Gives disk space up that others need more; whether there was any. */
  makeRoom(): Promise<boolean>
  /**
   * Called when a generation was flushed.
   * @param isHasty  whether so much came meanwhile that the next flush follows soon
   */
  flushed(isHasty: boolean): void
}

/** What is on disk of a generation that is flushed. */
interface Written {
  readonly part: PartInfo | null
  /** Whether the part cannot be read any more, so that it is to be written anew. */
  isLost: boolean
  catalog: CatalogRef | null
}

/** A tag with more points has others let in while they are packed. */
const LONGEST_ADD = 16_384

/** Points that are packed in about the time of one step of the pacer. */
const STEP_POINTS = 64

/**
 * How long packing holds others up at a time. A write needs some turns of the event loop, and meets a slice in each of
 * them. Where packing gets behind, writes wait for room in the end.
 */
const SLICE_MS = 1

/**
 * Moves points from memory into parts, a generation at a time: when it is full, old, or nothing more comes. The order
 * makes every moment safe to be killed in: part and catalog are durable, then the manifest names them, then the
 * segments go.
 */
export class Flusher {
  readonly #parts: FlusherParts
  readonly #backlog: Backlog
  #running: Promise<void> | null = null
  /** What is on disk of the immutable generation: a flush that fails later does not write it again. */
  #written: Written | null = null
  /** Whether the thread that packs has ended by itself since the last flush that succeeded. */
  #isThreadLost = false
  #isClosed = false
  #isWanted = false
  #ageTimer: NodeJS.Timeout | null = null
  #idleTimer: NodeJS.Timeout | null = null
  #retryTimer: NodeJS.Timeout | null = null

  constructor(parts: FlusherParts) {
    this.#parts = parts
    this.#backlog = new Backlog(parts.state, parts.limits)
  }

  /** The flush that is under way; resolves also where it fails. */
  get running(): Promise<void> | null {
    return this.#running
  }

  /** Whether so much waits, as flushing fails, that no more of a kind may come. */
  isOverfull(kind: ChangeKind): boolean {
    return this.#parts.trouble.reason !== null && this.#backlog.isOverfull(kind)
  }

  /**
   * What a change with so many points is to wait for, as long as flushing is behind; `null` for nothing. Small ones go
   * on for longer.
   */
  roomFor(kind: ChangeKind, points: number): Promise<void> | null {
    return this.#parts.trouble.reason === null && this.#backlog.isBehind(kind, points) ? this.#running : null
  }

  /** To be called after each group: flushes when it is time, and looks after points that grow old. */
  goOn(): void {
    const { state, limits } = this.#parts
    if (this.#isClosed || state.damage !== null) return
    // Also while a flush is under way, which may take longer than the wait: what comes meanwhile is no pause.
    this.#waitForIdle()
    if (this.#running !== null || this.#retryTimer !== null) return
    const { memtable } = state
    if (memtable.records > 0 && this.#ageTimer === null) {
      this.#ageTimer = setTimeout(() => {
        this.#ageTimer = null
        this.#want()
      }, limits.ageMs)
      this.#ageTimer.unref()
    }
    const { isFull } = this.#backlog
    // On a full disk the log goes at once, and what was taken away is known to merges.
    const isUrgent = this.#isWanted || this.#parts.reserve.isSpent
    if (memtable.immutable === null && !isFull && !(isUrgent && memtable.records > 0)) return
    void this.#start()
  }

  /** Flushes all that is in memory now. Rejects with what it fails with. */
  async flush(): Promise<void> {
    const { memtable } = this.#parts.state
    const last = memtable.active.last
    const isThere = () =>
      memtable.immutable !== null || (memtable.records > 0 && memtable.active.first <= last)
    while (isThere() && this.#parts.state.damage === null) {
      if (this.#running !== null) await this.#running
      else {
        const failure = await this.#start()
        if (failure !== null) throw failure
      }
    }
  }

  /** Begins a flush, when none is under way. Resolves with what it failed with, `null` for nothing. */
  #start(): Promise<unknown | null> {
    const { trouble } = this.#parts
    const flushed = this.#flush().then(
      () => {
        this.#running = null
        trouble.over()
        this.#parts.flushed(this.#backlog.isHalfFull)
        this.goOn()
        return null
      },
      (error: unknown) => {
        this.#running = null
        this.#retryLater(trouble.failed(error))
        return error
      },
    )
    this.#running = flushed.then(() => {})
    return flushed
  }

  /** Ends what is under way; what is in memory stays in the log. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of [this.#ageTimer, this.#idleTimer, this.#retryTimer]) {
      if (timer !== null) clearTimeout(timer)
    }
    await this.#running
    await this.#parts.packer?.close()
  }

  async #flush(): Promise<void> {
    const { state, log, versions, catalogs } = this.#parts
    const { memtable } = state
    versions.checkOwner()
    if (memtable.immutable === null) {
      await this.#parts.between(() => {
        if (memtable.records === 0 || memtable.immutable !== null || state.damage !== null) return
        memtable.rotate()
        log.rotate()
        this.#isWanted = false
      })
    }
    const { immutable } = memtable
    if (immutable === null) return
    const generation = log.generation - 1
    const { catalog: before, accepted } = versions.version
    if (this.#written === null || this.#written.isLost) {
      const catalog = this.#written?.catalog ?? null
      const part = await this.#withReserve(() => this.#writePart())
      this.#written = { part, isLost: false, catalog }
    }
    const written = this.#written
    if (immutable.catalog.length > 0) {
      written.catalog ??= await this.#withReserve(() => {
        // In another folder a file of that name is not the one that is appended to.
        versions.checkOwner()
        return catalogs.append(state.catalog, immutable.catalog, before)
      })
    }
    const { part, catalog } = written
    const flushed = [...accepted, ...log.completedUntil(generation)]
    await this.#withReserve(() =>
      versions.edit(
        {
          add: part === null ? [] : [part],
          flushedSequence: immutable.last,
          flushedGeneration: generation,
          accepted: [],
          kept: this.#parts.keptBeside(flushed),
          ...(catalog === null ? {} : { catalog }),
        },
        () => memtable.dropImmutable(),
      ),
    ).catch((error: unknown) => {
      written.isLost = error instanceof LostPart
      throw error
    })
    this.#written = null
    this.#isThreadLost = false
    const old = catalog !== null && before !== null && before.name !== catalog.name ? before.name : null
    log.dropUntil(generation)
    this.#parts.dropped(flushed, old)
  }

  /** Does what makes room in the end; on a full disk with what is set aside for that. */
  async #withReserve<T>(work: () => Promise<T>): Promise<T> {
    for (let mayGiveUp = true; ; ) {
      try {
        return await work()
      } catch (error) {
        if (!isWithoutSpace(error)) throw error
        if (await this.#parts.makeRoom()) continue
        // Once: it is set aside again as soon as it fits, also where that is too little for this.
        if (!mayGiveUp || !this.#parts.reserve.giveUp(error)) throw error
        mayGiveUp = false
      }
    }
  }

  /** Writes the immutable generation to a part; `null` when it has no points and takes none away. */
  async #writePart(): Promise<PartInfo | null> {
    const { state, store, partName, packer, limits } = this.#parts
    const { memtable } = state
    const immutable = memtable.immutable!
    const origin = { firstSequence: immutable.first, lastSequence: immutable.last, replaces: [] }
    const isLarge = memtable.immutablePoints >= (limits.packedAside ?? Number.POSITIVE_INFINITY)
    // What ended the thread may end the next one: then it takes longer here, and the points come into a part.
    if (packer !== null && isLarge && !this.#isThreadLost) {
      return this.#packAside(packer, origin)
    }
    const writer = store.create(partName(), origin)
    const pacer = new Pacer()
    const pause = async () => {
      await writer.drain()
      await pacer.pause()
    }
    let points = 0
    try {
      for (const tag of memtable.immutableTags()) {
        for (const sorting = memtable.sortImmutable(tag); sorting?.next().done === false; ) {
          if (pacer.isDue(STEPS_OF_WORK, SLICE_MS)) await pause()
        }
        // Points that are taken away meanwhile are covered by tombstones of the next generation.
        const columns = memtable.immutableColumns(tag)
        let steps = 1
        if (columns !== null) {
          steps += Math.floor(columns.times.length / STEP_POINTS)
          points += columns.times.length
          if (columns.times.length > LONGEST_ADD) await writer.addInSlices(tag, columns, pause)
          else writer.add(tag, columns)
        }
        if (!pacer.isDue(steps, SLICE_MS)) continue
        await pause()
      }
      for (const tombstone of immutable.tombstones) {
        writer.addTombstone(tombstone)
        if (pacer.isDue()) await pause()
      }
      if (points > 0 || immutable.tombstones.length > 0) return await writer.finish()
    } catch (error) {
      writer.abandon()
      throw error
    }
    writer.abandon()
    return null
  }

  /** The same on another thread: this one copies the points, a fraction of the work. */
  async #packAside(packer: Packer, origin: PartOrigin): Promise<PartInfo | null> {
    const { memtable } = this.#parts.state
    let packing: PartPacking | null = null
    try {
      packing = packer.begin(this.#parts.partName(), origin)
      const points = await copyPoints(memtable, packing, SLICE_MS)
      const { tombstones } = memtable.immutable!
      const pacer = new Pacer()
      for (const tombstone of tombstones) {
        packing.addTombstone(tombstone)
        if (pacer.isDue()) await pacer.pause()
      }
      if (points > 0 || tombstones.length > 0) return await packing.finish()
    } catch (error) {
      this.#isThreadLost = error instanceof ThreadEnded
      await packing?.abandon()
      throw error
    }
    await packing.abandon()
    return null
  }

  #want(): void {
    this.#isWanted = true
    this.goOn()
  }

  #retryLater(pauseMs: number): void {
    if (this.#isClosed || this.#retryTimer !== null) return
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null
      this.goOn()
    }, pauseMs)
    this.#retryTimer.unref()
  }

  /** Has what many points left flushed when nothing more comes: called again, it waits anew. */
  #waitForIdle(): void {
    const { idle } = this.#parts.limits
    const { memtable } = this.#parts.state
    if (idle === undefined || memtable.points < idle.points) return
    // Set anew rather than refreshed, which the timers of tests do not do.
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      if (memtable.points >= idle.points) this.#want()
    }, idle.afterMs)
    this.#idleTimer.unref()
  }
}
