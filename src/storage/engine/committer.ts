import { setTimeout as wait } from 'node:timers/promises'
import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { TooOldPoints, WriteBatch } from '../../historian/contract.ts'
import { untilAborted } from '../../historian/deadline.ts'
import { Damage } from '../damage.ts'
import { isWithoutSpace } from '../files/files.ts'
import type { PreparedPoints } from '../memtable/point-table.ts'
import { type Ownership, Superseded } from '../ownership/ownership.ts'
import { ChangePacer } from '../pause.ts'
import { hiddenSpans, keptInSlices } from '../retention/kept-points.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import { AppendFailed } from '../wal/device.ts'
import type { RecordBody } from '../wal/group.ts'
import { bytesOfRecords } from '../wal/group-buffer.ts'
import type { LogWriter } from '../wal/log-writer.ts'
import { RemovedSpansBuilder } from '../wal/removed-spans.ts'
import type { ChangeKind } from './backlog.ts'
import { ChangeQueue } from './change-queue.ts'
import { countApart } from './count-apart.ts'
import { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'
import type { Draft } from './plan-changes.ts'
import { planWrites, type WriteRequest } from './plan-writes.ts'
import { preparePoints } from './prepare-points.ts'
import type { Reserve } from './reserve.ts'
import { blocksOf } from './tag-sources.ts'

/** A change of the queue: writes can share a group, anything else has one of its own. */
type Change =
  | WriteChange
  /** Something that has to happen between groups. */
  | { readonly kind: 'between'; run(): void }
  | OtherChange

interface WriteChange extends WriteRequest {
  readonly kind: 'write'
  /** Known when it is committed. */
  tooOld: TooOldPoints | null
}

interface OtherChange {
  readonly kind: 'other'
  /** Whether it takes something away, which may take the reserve on a full disk. */
  readonly makesRoom: boolean
  plan(draft: Draft): Promise<void>
  readonly signal: AbortSignal
}

/** Writes are committed together up to so many points, which bounds the memory and the time of a group. */
const POINTS_PER_GROUP = 500_000

/** What committing takes beside the state. */
export interface CommitterParts {
  readonly state: EngineState
  readonly log: LogWriter
  readonly ownership: Ownership
  readonly reserve: Reserve
  /** Bytes of the record of a request in the log at most. */
  readonly recordBytes: number
  /** Called when a group is durable. */
  durable(): void
  /** Tells other processes up to where the log is durable. */
  publish(): void
  /** What changes of a kind get now in place of being made; `null` when they are taken. */
  refusal(kind: ChangeKind): Error | null
  /** Called after each group. */
  committed(): void
  /** Gives disk space up that changes need more; whether there was any. */
  makeRoom(): Promise<boolean>
  /** Resolves when what takes disk space until it has made some ends; `null` when nothing of that is under way. */
  roomComing(): Promise<unknown> | null
  /** What is to be waited for before a change with so many points comes into memory; `null` for nothing. */
  room(kind: ChangeKind, points: number): Promise<void> | null
}

/**
 * Makes changes: one group after the other, each worked out on the newest state, written to the log, applied in memory
 * when it is durable, and answered then.
 */
export class Committer {
  readonly #parts: CommitterParts
  readonly #queue: ChangeQueue<Change>
  /** Changes that wait before they come into the queue. */
  #outside = 0

  constructor(parts: CommitterParts) {
    this.#parts = parts
    this.#queue = new ChangeQueue<Change>(sizeOf, POINTS_PER_GROUP, (group) => this.#commit(group))
  }

  /**
   * Stores points, all or none, but for those at or before the watermarks of their tags, which it gives.
   * @param isWhole  whether none are stored where there are such
   */
  async write(write: WriteBatch, signal: AbortSignal, isWhole = false): Promise<TooOldPoints | null> {
    const room = this.#admit('points', write.points.times.length)
    const change: WriteChange = { kind: 'write', write, isWhole, tooOld: null }
    await this.#add(change, room, signal)
    return change.tooOld
  }

  /**
   * Makes any other change, alone.
   * @param kind  what comes of it; `null` when nothing is changed, as in a dry run
   */
  async change<T>(
    kind: 'tags' | 'removal' | null,
    signal: AbortSignal,
    plan: (draft: Draft) => Promise<T>,
  ): Promise<T> {
    let room: Promise<unknown> | null = kind === null ? null : this.#admit(kind, 0)
    let result: T | undefined
    const change: OtherChange = {
      kind: 'other',
      makesRoom: kind === 'removal',
      plan: async (draft: Draft) => {
        result = await plan(draft)
      },
      signal,
    }
    for (let tries = 1; ; tries++) {
      try {
        await this.#add(change, room, signal)
        return result as T
      } catch (error) {
        const mayWait = change.makesRoom && tries < WAITING_TRIES && isRefusedForRoom(error)
        const coming = mayWait ? this.#parts.roomComing() : null
        if (coming === null) throw error
        room = Promise.race([coming, wait(ROOM_PAUSE_MS)])
      }
    }
  }

  /**
   * Throws what changes of a kind get when they are not taken. Gives what is to be waited for as flushing is behind;
   * `null` for nothing.
   */
  #admit(kind: ChangeKind, points: number): Promise<void> | null {
    const refusal = this.#parts.refusal(kind)
    if (refusal !== null) throw refusal
    return this.#parts.room(kind, points)
  }

  /** @param room  waited for before: not in the queue, which what makes room needs to come to its end */
  #add(change: Change, room: Promise<unknown> | null, signal: AbortSignal): Promise<void> {
    return room === null ? this.#queue.add(change, signal) : this.#addAfter(room, change, signal)
  }

  async #addAfter(room: Promise<unknown>, change: Change, signal: AbortSignal): Promise<void> {
    this.#outside++
    try {
      await untilAborted(signal, () => room)
    } finally {
      this.#outside--
    }
    return this.#queue.add(change, signal)
  }

  /** Runs something when no group is under way, behind those that wait. */
  between(run: () => void): Promise<void> {
    return this.#queue.add({ kind: 'between', run }, NEVER)
  }

  /** Resolves when nothing waits or is under way any more, for room neither. */
  async idle(): Promise<void> {
    for (;;) {
      await this.#queue.idle()
      if (this.#outside === 0) return
      await wait(LOOK_MS)
    }
  }

  async #commit(group: readonly Change[]): Promise<readonly (unknown | null)[]> {
    const first = group[0]!
    if (first.kind === 'between') {
      first.run()
      return [null]
    }
    const { state } = this.#parts
    const outcomes = await this.#plan(group)
    return outcomes.map((outcome) => (outcome === null ? null : state.errors.ofChange(outcome)))
  }

  async #plan(group: readonly Change[]): Promise<readonly (unknown | null)[]> {
    const { state } = this.#parts
    if (state.damage !== null) return group.map(() => state.damage)
    const first = group[0]!
    const snapshot = new EngineSnapshot(
      state.parts,
      first.kind === 'other' ? first.signal : NEVER,
      new ChangePacer(),
    )
    try {
      if (first.kind === 'other') {
        const record = await this.#planOther(first, snapshot)
        snapshot.done()
        // What changes nothing is answered from what is here, which a successor may have changed.
        if (record === null) this.#parts.ownership.check()
        else await this.#append([record], first.makesRoom ? ROOM_TRIES : 0)
        return [null]
      }
      const writes = group.filter((change) => change.kind === 'write')
      const draft = state.catalog.draft()
      const { catalog, watermarks } = state
      const planned = await planWrites(
        writes,
        { catalog, watermarks, retention: snapshot.set.version.retention },
        draft,
        snapshot,
        state.errors,
      )
      snapshot.done()
      for (const [i, { tooOld }] of planned.entries()) writes[i]!.tooOld = tooOld
      const records = planned.flatMap(({ record }) => (record === null ? [] : [record]))
      const failure = await this.#tryAppend(records)
      return planned.map(({ error, record }) => error ?? (record === null ? null : failure))
    } catch (error) {
      return group.map(() => error)
    } finally {
      snapshot.done()
    }
  }

  async #planOther(change: OtherChange, snapshot: EngineSnapshot): Promise<RecordBody | null> {
    const { state } = this.#parts
    const { memtable, watermarks } = state
    const catalog = state.catalog.draft()
    const removed = new RemovedSpansBuilder()
    const { retention } = snapshot.set.version
    // Nothing else is changed meanwhile: what is in memory stays as it is.
    const blocksFor = (tag: number, watermark: number) =>
      blocksOf(tag, snapshot.set, {
        layers: memtable.layers(tag),
        tombstones: memtable.tombstones(tag),
        watermark,
      })
    const watermarkOf = (tag: number) => watermarks.of(retention, state.catalog, tag)
    await change.plan({
      catalog,
      pace: snapshot,
      errors: state.errors,
      blocksOf: (tag) => blocksFor(tag, watermarkOf(tag)),
      knownCount: (tag) => countApart(tag, snapshot.set, memtable, watermarkOf(tag)),
      remove: (tag, from, to) => removed.add(tag, from, to),
      watermarkOf,
      watermarkOfName: (name) => watermarks.ofName(retention, name),
      async removeHidden(tag) {
        const watermark = watermarkOf(tag)
        if (watermark === NO_WATERMARK) return
        const kept = await keptInSlices(blocksFor(tag, NO_WATERMARK), watermark, snapshot)
        for (const { from, to } of hiddenSpans(kept)) removed.add(tag, from, to)
      },
    })
    const changes = catalog.take()
    const isNothing = changes === null && removed.length === 0
    return isNothing ? null : { catalog: changes, removed: removed.take(), points: null }
  }

  async #tryAppend(records: readonly RecordBody[]): Promise<unknown | null> {
    try {
      if (records.length > 0) await this.#append(records, 0)
      else this.#parts.ownership.check()
      return null
    } catch (error) {
      return error
    }
  }

  /** Does most of the work of applying changes of many tags beforehand, in slices; nobody sees it. */
  async #prepare(records: readonly RecordBody[]): Promise<void> {
    const pacer = new ChangePacer()
    for (const { catalog } of records) {
      if (catalog !== null) await this.#parts.state.catalog.prepare(catalog, pacer)
    }
  }

  /**
   * @param tries    how often room may be made for them on a full disk, with the reserve first
   * @param isClean  whether no part of them stands in the log, from an earlier try in a segment that was not cut
   */
  async #append(records: readonly RecordBody[], tries: number, isClean = true): Promise<void> {
    const { state, log, ownership, recordBytes } = this.#parts
    // Others that share a group are small.
    if (bytesOfRecords(records) > recordBytes) {
      throw state.errors.writeFailed(
        `it would take more than ${recordBytes >> 20} MiB in its log: send it in parts`,
      )
    }
    const encoded = log.prepare(records)
    if (encoded !== null) await encoded
    const firstSequence = log.nextSequence
    try {
      // What is known to count no more is not written, and no segment is begun in another folder.
      if (ownership.isSuperseded || log.beginsSegment) ownership.check()
      await log.append(records)
    } catch (error) {
      const isVoid = isIntact(error) && (isClean || !log.beginsSegment)
      if (isWithoutSpace(causeOf(error)) && !wasSyncing(error)) {
        // Where the segment could not be cut the next one says, in its header, that the group does not count.
        if (await this.#parts.makeRoom()) return this.#append(records, tries, isVoid)
        if (tries > 0 && (await this.#makeRoomAgain(causeOf(error)))) {
          return this.#append(records, tries - 1, isVoid)
        }
      }
      throw isVoid ? causeOf(error) : state.errors.ofWriting(causeOf(error))
    }
    this.#parts.durable()
    try {
      ownership.check()
    } catch (error) {
      throw error instanceof Superseded ? state.errors.ofWriting(error) : error
    }
    // They are durable: what cannot be prepared is applied as it is.
    const isLong = records.some(({ catalog }) => (catalog?.length ?? 0) > LONG_CHANGES)
    if (isLong) await this.#prepare(records).catch(() => {})
    const points = await preparePoints(state.memtable, records).catch(() => null)
    this.#parts.publish()
    this.#apply(records, firstSequence, points)
    this.#parts.committed()
    // What cannot be settled now is settled with the next change.
    if (isLong) await state.catalog.settle(new ChangePacer()).catch(() => {})
  }

  /** Gives up what is set aside. Whether there may be room now for what makes more of it. */
  async #makeRoomAgain(cause: unknown): Promise<boolean> {
    if (this.#parts.reserve.giveUp(cause)) return true
    if (systemCode(cause) !== 'EDQUOT') return false
    // Nobody tells how much a quota leaves: merges, and what is set aside again, take it until they find that out.
    await wait(QUOTA_PAUSE_MS)
    return true
  }

  /**
   * Takes what is durable into memory. Where that fails, as there is no memory for it, nothing more may be worked out
   * on what is there: the next tag would get an id that the log has given already.
   */
  #apply(records: readonly RecordBody[], firstSequence: number, points: PreparedPoints | null): void {
    const { state } = this.#parts
    try {
      for (const { catalog } of records) if (catalog !== null) state.catalog.apply(catalog)
      const numbered = records.map((record, i) => ({ ...record, sequence: firstSequence + i }))
      state.memtable.applyAll(numbered, performance.now(), points)
    } catch (error) {
      state.damage ??= new Damage(NOT_TAKEN, error)
      throw state.errors.ofWriting(error)
    }
  }
}

/** So often what makes room is tried again, for some two seconds under a quota. */
const ROOM_TRIES = 20
const QUOTA_PAUSE_MS = 100

/**
 * So often what makes room is tried while flushes and merges have what is left of a full disk, and what was set aside:
 * after each of them, or a pause, for some ten seconds.
 */
const WAITING_TRIES = 20
const ROOM_PAUSE_MS = 500
/** How often a close looks whether changes that wait for room have come into the queue. */
const LOOK_MS = 5

/** Why nothing is changed any more. */
const NOT_TAKEN = 'a change that is on disk could not be taken into memory: start the service again'

/** Changes of the catalog of so many bytes are prepared in slices, so that applying them holds nobody up. */
export const LONG_CHANGES = 100_000

/** Whether nothing of what failed is in the log. */
function isIntact(error: unknown): boolean {
  return !(error instanceof AppendFailed) || error.isIntact
}

/** Whether it may be as a whole in the log: a sync that failed is not tried again. */
function wasSyncing(error: unknown): boolean {
  return error instanceof AppendFailed && !error.wasWriting
}

/** Whether it was not made as there was no room for it in the log. */
function isRefusedForRoom(error: unknown): boolean {
  return error instanceof TidemarkError && error.code === 'WRITE_FAILED' && isWithoutSpace(error.cause)
}

function causeOf(error: unknown): unknown {
  return error instanceof AppendFailed ? error.cause : error
}

/** Points of a change for `POINTS_PER_GROUP`; Infinity for what has a group of its own. */
function sizeOf(change: Change): number {
  return change.kind === 'write' ? change.write.points.times.length : Number.POSITIVE_INFINITY
}

/** Whether something that was met means that stored points cannot be read. */
export function isDamage(error: unknown): boolean {
  return error instanceof Damage
}

/** Writes that share a group go on whatever becomes of one caller. */
const NEVER = new AbortController().signal
