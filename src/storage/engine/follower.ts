import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import type { TagCatalog } from '../catalog/tag-catalog.ts'
import { Damage } from '../damage.ts'
import { type Files, isGone } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import { hasMovedOn, type ManifestPlace, readManifest, readMore } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { Memtable } from '../memtable/memtable.ts'
import type { PreparedPoints } from '../memtable/point-table.ts'
import { LARGE_WRITE } from '../memtable/prepared-points.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { ChangePacer, STEPS_OF_WORK } from '../pause.ts'
import { TagWatermarks } from '../retention/tag-watermarks.ts'
import { type Publication, PublicationReader } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import type { WalRecord } from '../wal/wal-record.ts'
import { LONG_CHANGES } from './committer.ts'
import { EngineErrors } from './engine-errors.ts'
import type { EngineLimits } from './engine-limits.ts'
import type { EngineState } from './engine-state.ts'
import type { Folders } from './folders.ts'
import { LogFollower, type Wait } from './log-follower.ts'
import { findNewest } from './newest-version.ts'
import { type MissingFile, OpenParts } from './part-set.ts'
import { checkHasAll, checkIsSame, type HistorianBefore } from './was-there.ts'
import { withParts } from './with-parts.ts'

/** What is to be read is gone: the owner went on for longer than files are kept. */
class Behind extends Error {}

/**
 * Slabs of the memtable that are kept for the next generation, 5 MB: there are several processes, and taking memory
 * from the system costs little beside the rest of what an owner does.
 */
const KEPT_SLABS = 4

/** Tries to open what an owner changes meanwhile. */
const TRIES = 20

/**
 * Reads a historian that another process changes: before each read it looks at what that one published, and takes what
 * is new of manifest and log. Where that is gone already it reads all of it anew.
 */
export class Follower {
  readonly state: EngineState
  readonly #files: Files
  readonly #folders: Folders
  readonly #reader: PublicationReader
  #published: Publication | null
  #place: ManifestPlace
  #manifestBytes: number
  #version: Version
  #log: LogFollower
  /** While it catches up in steps, or reads all anew. */
  #busy: Promise<void> | null = null
  /** Whether memory and parts are those of no moment: also after catching up has failed amid its steps. */
  #isAmid = false
  #isClosed = false
  readonly #movedOn: (version: number) => void

  private constructor(
    files: Files,
    folders: Folders,
    reader: PublicationReader,
    opened: Opened,
    parts: OpenParts,
    movedOn: (version: number) => void,
  ) {
    this.#movedOn = movedOn
    this.#files = files
    this.#folders = folders
    this.#reader = reader
    this.#published = opened.published
    this.#place = opened.place
    this.#manifestBytes = opened.manifestBytes
    this.#version = opened.version
    this.#log = opened.log
    const { historian } = opened.version
    const { catalog, memtable, damage } = opened
    const catalogs = openCatalogStore(files, folders.catalog, '')
    this.state = {
      historian,
      errors: new EngineErrors(historian),
      catalog,
      memtable,
      parts,
      watermarks: new TagWatermarks(),
      checkCatalog: async ({ catalog: ref }) => (ref === null ? [] : catalogs.check(ref)),
      catchingUp: () => this.#busy ?? (this.#isAmid ? this.catchUp() : null),
      damage,
    }
  }

  /**
   * @param movedOn  called with the number of each version that is read from then on
   *
   * @param before  what is known of the one that was there before; `null` for nothing
   *
   * Throws DATA_DIR_UNUSABLE when there is no historian, or another one; Damage; the system's errors.
   */
  static async open(
    files: Files,
    folders: Folders,
    { historian, before = null }: { readonly historian: string; readonly before?: HistorianBefore | null },
    limits: EngineLimits,
    movedOn: (version: number) => void = () => {},
  ): Promise<Follower> {
    const reader = new PublicationReader(files, folders.wal)
    const store = openPartStore(files, folders.parts, { cacheBytes: limits.cacheBytes })
    for (let left = TRIES; ; left--) {
      try {
        const opened = await openState(files, folders, reader)
        if (opened.version.historian !== historian) {
          throw unusable(folders.root, `it holds the historian ${opened.version.historian}, not ${historian}`)
        }
        checkIsSame(files, folders, opened.version, before)
        if (opened.damage === null) {
          checkHasAll(files, folders, opened.version, opened.memtable.nextSequence - 1, before)
        }
        const open = (missing: MissingFile) => OpenParts.open(store, opened.version, () => {}, missing)
        const parts = await withParts(files, folders, reader, opened.version, open)
        movedOn(opened.version.number)
        return new Follower(files, folders, reader, opened, parts, movedOn)
      } catch (error) {
        if (left > 0 && isBehind(error)) continue
        reader.close()
        throw failureOf(error)
      }
    }
  }

  readonly catchUp = (): Promise<void> | null => {
    this.#checkIsOpen()
    if (this.#busy !== null) return this.#busy
    const published = this.#reader.read()
    if (published === null || isSame(published, this.#published)) return null
    // An owner before the one whose manifest was read has nothing to say: this one has published nothing yet.
    if (published.token < this.#place.token) return null
    const work = this.#advance(published)
    try {
      const { done, value } = work.next()
      if (done === true) return null
      this.#busy = this.#goOn(work, value)
    } catch (error) {
      if (!isBehind(error)) throw error
      this.#busy = this.#reload()
    }
    this.#busy = this.#busy.finally(() => {
      this.#busy = null
    })
    return this.#busy
  }

  close(): void {
    this.#isClosed = true
    this.#reader.close()
    this.#log.close()
  }

  /** What is waited for fails: asked again for ever, it would open files that nobody closes. */
  #checkIsOpen(): void {
    if (this.#isClosed) throw new Error('the historian is closed')
  }

  /** Does the rest of `#advance`, between whose steps others go on. */
  async #goOn(work: Generator<Wait, void>, first: Wait): Promise<void> {
    const pacer = new ChangePacer()
    try {
      for (let wait = first; ; ) {
        if (wait !== undefined) await wait
        else if (pacer.isDue(STEPS_OF_WORK)) await pacer.pause()
        if (this.#isClosed) work.return()
        this.#checkIsOpen()
        const { done, value } = work.next()
        if (done === true) return
        wait = value
      }
    } catch (error) {
      if (!isBehind(error)) throw error
      await this.#reload()
    }
  }

  /** Takes what is new, in steps where that is much. No read begins before the last one. */
  *#advance(published: Publication): Generator<Wait, void> {
    if (published.token !== this.#place.token) throw new Behind('another process owns it now')
    const { number } = this.#version
    this.#isAmid = true
    this.#readManifest(published)
    const { memtable } = this.state
    const { state } = this
    const size = { applied: 0 }
    yield* this.#log.readUntil(published, {
      take: (record) => applyInSteps(record, state, size),
      damaged: (damage) => {
        state.damage ??= damage
      },
      rotate: () => rotateOrKeep(memtable, this.#version),
    })
    this.#log.closeFlushed(this.#version.flushedGeneration)
    dropFlushed(memtable, this.#version)
    this.#isAmid = false
    this.#published = published
    if (this.#version.number !== number) this.#movedOn(this.#version.number)
  }

  #readManifest({ token, manifest, manifestBytes }: Publication): void {
    const place = { token, number: manifest }
    const isNew = manifest !== this.#place.number
    if (!isNew && manifestBytes === this.#manifestBytes) return
    // Of an owner that had published nothing all was read, also an edit that has failed since.
    if (!isNew && manifestBytes < this.#manifestBytes) throw new Behind('an edit of the manifest failed')
    const { manifest: folder } = this.#folders
    const read = isNew
      ? readManifest(this.#files, folder, place, manifestBytes)
      : readMore(
          this.#files,
          folder,
          place,
          { version: this.#version, bytes: this.#manifestBytes },
          manifestBytes,
        )
    this.state.parts.moveTo(read.version)
    this.#version = read.version
    this.#place = place
    this.#manifestBytes = read.bytes
  }

  async #reload(): Promise<void> {
    for (let left = TRIES; ; left--) {
      // The files are read without waiting: others come in here, as the end of a call that waits.
      await setImmediate()
      this.#checkIsOpen()
      try {
        const opened = await openState(this.#files, this.#folders, this.#reader)
        if (this.#isClosed) this.#reader.close()
        this.#checkIsOpen()
        const take = (missing: MissingFile) => this.#take(opened, missing)
        return await withParts(this.#files, this.#folders, this.#reader, opened.version, take)
      } catch (error) {
        if (left === 0 || !isBehind(error)) throw failureOf(error)
      }
    }
  }

  /** Goes on with what was read anew, all of it in one turn of the event loop. Throws as `moveTo` of the parts does. */
  #take(opened: Opened, missing: MissingFile): void {
    this.#checkIsOpen()
    this.state.parts.moveTo(opened.version, missing)
    this.#log.close()
    this.#published = opened.published
    this.#place = opened.place
    this.#manifestBytes = opened.manifestBytes
    this.#version = opened.version
    this.#log = opened.log
    this.state.catalog = opened.catalog
    this.state.memtable = opened.memtable
    this.state.damage = opened.damage
    this.#isAmid = false
    this.#movedOn(opened.version.number)
  }
}

type Opened = Awaited<ReturnType<typeof openState>>

/** Reads all of a historian but its parts. */
async function openState(files: Files, folders: Folders, reader: PublicationReader) {
  const newest = findNewest(files, folders, reader)
  if (newest === null) throw new Behind('the newest manifest is missing')
  const { version, bytes, place, published, isFollowed } = newest
  const catalogs = openCatalogStore(files, folders.catalog, '')
  const catalog = await catalogs.load(version.catalog).catch((error: unknown) => {
    const { catalog: ref } = version
    const isGone = ref !== null && !files.exists(join(folders.catalog, ref.name))
    throw isGone ? new Behind('the catalog that the manifest names is missing') : error
  })
  catalogs.close()
  const memtable = new Memtable(version.flushedSequence + 1, KEPT_SLABS)
  let damage: Damage | null = null
  const segments = readLog(
    files,
    folders.wal,
    version,
    published,
    {
      take: (record) => applyRecord(record, catalog, memtable),
      damaged(found) {
        damage ??= found
      },
      rotate: () => rotateOrKeep(memtable, version),
    },
    isFollowed,
  )
  // A segment that was flushed meanwhile is not missing.
  if (damage !== null && hasMovedOn(files, folders.manifest, place, bytes))
    throw new Behind((damage as Damage).message)
  const log = new LogFollower(files, folders.wal, version.token, memtable.nextSequence, segments, published)
  return {
    published,
    place,
    manifestBytes: bytes,
    version,
    catalog,
    memtable,
    damage: damage as Damage | null,
    log,
  }
}

/**
 * As `applyRecord`, after most of the work was done in steps that nobody sees.
 * @param size  points and removed spans that were applied since the last step
 */
function* applyInSteps(
  record: WalRecord,
  { catalog, memtable }: EngineState,
  size: { applied: number },
): Generator<Wait, void> {
  if (size.applied >= LARGE_WRITE) {
    size.applied = 0
    yield
  }
  const isLong = (record.catalog?.length ?? 0) > LONG_CHANGES
  // What cannot be prepared is applied as it is.
  if (isLong) yield catalog.prepare(record.catalog!, new ChangePacer()).catch(() => {})
  let points: PreparedPoints | null = null
  try {
    const steps = memtable.prepare([record])
    if (steps !== null) points = yield* steps
  } catch {
    // The same.
  }
  try {
    if (record.catalog !== null) catalog.apply(record.catalog)
    memtable.applyAll([{ ...record, catalog: null }], performance.now(), points)
  } catch (error) {
    // Some of it may have been taken.
    throw new Behind('a change could not be taken', { cause: error })
  }
  if (isLong) yield catalog.settle(new ChangePacer()).catch(() => {})
  size.applied += (record.points?.points.times.length ?? 0) + record.removed.length
}

/** The memtable keeps changes of the catalog for the flush, which only the owner makes. */
function applyRecord(record: WalRecord, catalog: TagCatalog, memtable: Memtable): void {
  if (record.catalog !== null) catalog.apply(record.catalog)
  memtable.apply({ ...record, catalog: null }, performance.now())
}

/**
 * Begins a generation where the owner did; not before the immutable one is flushed: then what comes is kept with
 * what is there.
 */
function rotateOrKeep(memtable: Memtable, version: Version): void {
  if (memtable.immutable !== null && memtable.immutable.last <= version.flushedSequence)
    memtable.dropImmutable()
  if (memtable.immutable === null) memtable.rotate()
}

/** Lets go of what stands in the parts of a version. */
function dropFlushed(memtable: Memtable, { flushedSequence }: Version): void {
  if (memtable.immutable !== null && memtable.immutable.last <= flushedSequence) memtable.dropImmutable()
  if (memtable.immutable === null && memtable.records > 0 && memtable.active.last <= flushedSequence) {
    memtable.rotate()
    memtable.dropImmutable()
  }
}

function isSame(one: Publication, other: Publication | null): boolean {
  return (
    other !== null &&
    one.offset === other.offset &&
    one.segment === other.segment &&
    one.token === other.token &&
    one.manifest === other.manifest &&
    one.manifestBytes === other.manifestBytes
  )
}

/** What is still gone after all tries was not removed by an owner that went on. */
function failureOf(error: unknown): unknown {
  return error instanceof Behind ? new Damage(error.message) : error
}

function isBehind(error: unknown): boolean {
  return error instanceof Behind || isGone(error)
}
