import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { HistorianEnd } from '../../historian/driver.ts'
import { inlineArchiveWriter, startArchiveWriter } from '../archive/archive-thread.ts'
import { openCatalogStore } from '../catalog/file-catalog-store.ts'
import { type Clock, systemClock } from '../clock.ts'
import { Damage, LogDamage } from '../damage.ts'
import { type Files, isWithoutSpace } from '../files/files.ts'
import { refuseOldFormat } from '../files/old-format.ts'
import { reasonOf, unusable } from '../files/refusals.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, type ManifestPlace, ManifestWriter, oldManifests } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { Memtable } from '../memtable/memtable.ts'
import { inlineMerger } from '../merge/inline-merger.ts'
import { startMerger } from '../merge/merge-thread.ts'
import { planIdleMerge, planMerge, planThoroughMerge } from '../merge/plan-merge.ts'
import { claimOwnership, claimPath, currentToken } from '../ownership/claim.ts'
import { inUse } from '../ownership/in-use.ts'
import { noteOwner } from '../ownership/owner-note.ts'
import { AlreadyOwned, type Ownership, tokenText } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { startPacker } from '../parts/pack-thread.ts'
import { TagWatermarks } from '../retention/tag-watermarks.ts'
import { inlineDevice } from '../wal/device.ts'
import { isUnfinished } from '../wal/log-rewriter.ts'
import { LogWriter } from '../wal/log-writer.ts'
import { type Publication, PublicationReader, Publisher } from '../wal/publication.ts'
import { readLog } from '../wal/read-log.ts'
import { parseSegmentName } from '../wal/segment.ts'
import { settleEnd } from '../wal/settle-end.ts'
import { ThreadDevice } from '../wal/thread-device.ts'
import type { ArchiveSettings } from './archiving.ts'
import { checkBeforeClaim, checkName } from './before-claim.ts'
import { EngineErrors } from './engine-errors.ts'
import { ENGINE_LIMITS, type EngineLimits } from './engine-limits.ts'
import type { EngineState } from './engine-state.ts'
import { FileStore } from './file-store.ts'
import { type Folders, foldersOf, highestToken, tokenOf } from './folders.ts'
import { Follower } from './follower.ts'
import { Garbage } from './garbage.ts'
import { LateOwner, type Owned } from './late-owner.ts'
import { readNewest } from './newest-version.ts'
import { Opened } from './opened.ts'
import { Owner } from './owner.ts'
import { OpenParts } from './part-set.ts'
import { Reserve, removeReserve } from './reserve.ts'
import type { RetentionOptions } from './retention-keeper.ts'
import { Trouble, type TroubleLog } from './trouble.ts'
import { checkHasAll, checkIsSame, checkIsThere, type HistorianBefore, removeMarks } from './was-there.ts'

export interface FileStoreOptions {
  /** Name of the historian, for errors; the folder remembers the one that it was made for. */
  readonly historian: string
  /** Whether this process is to change it: one process at a time may. */
  readonly owner: boolean
  /** Whether one that is only read is made, empty, when there is nothing in its folder; an owner makes it anyway. */
  readonly create?: boolean
  /**
   * What is known of the one that was in its folder before: then DATA_DIR_UNUSABLE when it is not there, or another one
   * is. `null` or left out where none was.
   */
  readonly before?: HistorianBefore | null
  readonly limits?: Partial<EngineLimits>
  /** What an owner moves watermarks by; left out, they stay as they are. */
  readonly retention?: RetentionOptions
  readonly log?: TroubleLog
  /** Where an owner archives the log; nowhere when left out. */
  readonly archive?: ArchiveSettings
  /** Of commit times; the machine's when left out. */
  readonly clock?: Clock
  /** Of one that is only read: called with the number of each version that it reads, which is reported to the owner. */
  readonly movedOn?: (version: number) => void
  /** Of an owner: called now and then with what is on disk, so that an earlier state is not taken for it afterwards. */
  readonly reached?: (end: HistorianEnd) => void
  /** The file layer; that of the system when left out. With another one everything happens in this thread. */
  readonly files?: Files
}

/**
 * Opens an embedded historian on files in its folder; an owner makes it when it is missing. Throws DATA_DIR_IN_USE when
 * it is to be owned and another process owns it, DATA_DIR_UNUSABLE when the file system refuses, the folder is that of
 * another historian, or holds files without a manifest, STORAGE_CORRUPT when the manifest or the catalog cannot be
 * read.
 */
export async function openFileStore(folder: string, options: FileStoreOptions): Promise<FileStore> {
  const limits = { ...ENGINE_LIMITS, ...options.limits }
  const files = options.files ?? systemFiles
  const folders = foldersOf(folder)
  try {
    refuseOldFormat(files, folder)
    if (options.before != null) checkIsThere(files, folders)
    if (!options.owner && options.create === true && listManifests(files, folders.manifest).length === 0) {
      await storeOf(await openOwned(files, folders, limits, options)).close()
    }
    if (!options.owner) return await openToRead(files, folders, limits, options)
    try {
      return storeOf(await openOwned(files, folders, limits, options))
    } catch (error) {
      if (error instanceof LogDamage) return await openDamaged(files, folders, limits, options, error)
      // What is set aside for a full disk is there for this, too: an owner can free more.
      if (!isWithoutSpace(error)) throw error
      if (!removeReserve(files, folders.wal)) return await openLate(files, folders, limits, options, error)
    }
    try {
      return storeOf(await openOwned(files, folders, limits, options))
    } catch (error) {
      if (error instanceof LogDamage) return await openDamaged(files, folders, limits, options, error)
      if (!isWithoutSpace(error)) throw error
      return await openLate(files, folders, limits, options, error)
    }
  } catch (error) {
    if (error instanceof TidemarkError) throw error
    if (error instanceof Damage) throw new EngineErrors(options.historian).ofRead(error)
    throw unusable(folder, reasonOf(error), error)
  }
}

const storeOf = ({ state, owner }: Owned): FileStore => new FileStore(state, owner, null)

/** Reads what is intact, changes nothing, and says why: also at the next start all files are as they are now. */
async function openDamaged(
  files: Files,
  folders: Folders,
  limits: EngineLimits,
  options: FileStoreOptions,
  damage: LogDamage,
): Promise<FileStore> {
  const follower = await Follower.open(files, folders, options, limits)
  follower.state.damage ??= damage
  return new FileStore(follower.state, null, follower)
}

/** Reads until there is room to become the owner. Throws what was in the way for a historian that is not there yet. */
async function openLate(
  files: Files,
  folders: Folders,
  limits: EngineLimits,
  options: FileStoreOptions,
  cause: unknown,
): Promise<FileStore> {
  if (listManifests(files, folders.manifest).length === 0) throw cause
  const follower = await Follower.open(files, folders, options, limits)
  if (follower.state.damage !== null) return new FileStore(follower.state, null, follower)
  const open = () => openOwned(files, folders, limits, options)
  const late = new LateOwner(options.historian, cause, open, options.log ?? null)
  return new FileStore(follower.state, null, follower, late)
}

async function openOwned(
  files: Files,
  folders: Folders,
  limits: EngineLimits,
  options: FileStoreOptions,
): Promise<Owned> {
  checkBeforeClaim(files, folders, options)
  for (const one of Object.values(folders)) files.makeFolder(one)
  const ownership = claim(files, folders)
  const opened = new Opened()
  try {
    return await openToChange(files, folders, ownership, limits, options, opened)
  } catch (error) {
    // What waits for room tries again each second.
    await opened.close()
    ownership.release()
    throw error
  }
}

function claim(files: Files, folders: Folders): Ownership {
  const folder = folders.root
  try {
    const ownership = claimOwnership(files, folder, highestToken(files, folders))
    noteOwner(files, claimPath(folder, ownership.token))
    return ownership
  } catch (error) {
    if (!(error instanceof AlreadyOwned)) throw error
    throw inUse(files, folder, claimPath(folder, currentToken(files, folder)))
  }
}

async function openToChange(
  files: Files,
  folders: Folders,
  ownership: Ownership,
  limits: EngineLimits,
  options: FileStoreOptions,
  opened: Opened,
): Promise<Owned> {
  const { historian, log: troubleLog, files: given, retention, archive, clock = systemClock } = options
  const { token } = ownership
  const catalogs = opened.add(openCatalogStore(files, folders.catalog, tokenText(token)))
  const reader = opened.add(new PublicationReader(files, folders.wal))
  const published = reader.read()
  reader.close()
  const before = readVersion(files, folders, options, published) ?? newVersion(files, folders, historian)
  const catalog = await catalogs.load(before.catalog)
  let damage: Damage | null = null
  const memtable = new Memtable(before.flushedSequence + 1)
  const segments = readLog(files, folders.wal, before, published, {
    take(record) {
      if (record.catalog !== null) catalog.apply(record.catalog)
      memtable.apply(record, performance.now())
    },
    damaged(found) {
      damage ??= found
    },
  })
  if (damage !== null) throw new LogDamage(damage)
  checkHasAll(files, folders, before, memtable.nextSequence - 1, options.before ?? null)
  settleEnd(files, folders.wal, before.token, segments, published)
  const { copiedAt, ...moment } = before
  const version: Version = {
    ...moment,
    id: copiedAt === undefined ? before.id : newId(),
    ...inPlaceOf(before, options.before ?? null),
    number: before.number + 1,
    token,
    accepted: segments.map(({ name, bytes }) => ({ name, bytes })),
    kept:
      archive === undefined ? [] : before.kept.filter(({ name }) => files.exists(join(folders.wal, name))),
  }
  const manifest = opened.add(new ManifestWriter(files, folders.manifest, version))
  await manifest.begin()
  removeMarks(files, folders.root)
  sweep(files, folders, version, manifest.place)

  const store = openPartStore(files, folders.parts, { cacheBytes: limits.cacheBytes })
  const reserve = new Reserve(files, folders.wal, limits.reserveBytes)
  const garbage = new Garbage(
    files,
    { soonestMs: limits.unlinkSoonestMs, latestMs: limits.unlinkAfterMs },
    () => parts.current.version.number,
    () => ownership.check(),
    () => reserve.isSpent,
  )
  const dropped = (name: string) => garbage.add(folders.parts, [name])
  const parts = opened.add(await OpenParts.open(store, version, dropped, 'damage'))
  // Before the thread of the log, which then need not be started for nothing.
  const publisher = opened.add(new Publisher(files, folders.wal, token))
  const generation = Math.max(before.flushedGeneration, ...segments.map(({ header }) => header.generation))
  const logTrouble = new Trouble(historian, 'changes could not be made durable', troubleLog ?? null)
  const device = opened.add(
    given === undefined ? new ThreadDevice((reason) => logTrouble.failed(reason)) : inlineDevice(files),
  )
  const state: EngineState = {
    historian,
    errors: new EngineErrors(historian),
    catalog,
    memtable,
    parts,
    watermarks: new TagWatermarks(),
    checkCatalog: async ({ catalog: ref }) => (ref === null ? [] : catalogs.check(ref)),
    catchingUp: () => null,
    damage: null,
  }
  const owner = new Owner({
    files,
    folders,
    state,
    ownership,
    log: new LogWriter(
      device,
      folders.wal,
      { token, generation: generation + 1, nextSequence: memtable.nextSequence },
      clock,
    ),
    logTrouble,
    manifest,
    publisher,
    store,
    packer: given === undefined ? startPacker(folders.parts) : null,
    catalogs,
    merger: given === undefined ? startMerger() : inlineMerger(files),
    planMerge,
    planIdleMerge,
    planThoroughMerge,
    garbage,
    reserve,
    limits,
    retention,
    troubleLog: troubleLog ?? null,
    archive: archive === undefined ? null : { settings: archive, writer: archiveWriter(given) },
    clock,
    reached: (lastSequence) => options.reached?.({ id: version.id, token, lastSequence }),
  })
  return { state, owner }
}

async function openToRead(
  files: Files,
  folders: Folders,
  limits: EngineLimits,
  options: FileStoreOptions,
): Promise<FileStore> {
  const follower = await Follower.open(files, folders, options, limits, options.movedOn)
  return new FileStore(follower.state, null, follower)
}

/**
 * What the highest manifest says; `null` without one. Throws Damage, also where an owner published more than is there.
 */
function readVersion(
  files: Files,
  folders: Folders,
  { historian, before }: Pick<FileStoreOptions, 'historian' | 'before'>,
  published: Publication | null,
): Version | null {
  const place = listManifests(files, folders.manifest).at(-1)
  if (place === undefined) return null
  const { version } = readNewest(files, folders.manifest, place, published)
  checkName(folders, version, historian)
  checkIsSame(files, folders, version, before ?? null)
  return version
}

/** Of a historian that is made now. Throws DATA_DIR_UNUSABLE when the folder holds one whose manifest is missing. */
function newVersion(files: Files, folders: Folders, historian: string): Version {
  for (const folder of [folders.parts, folders.wal, folders.catalog]) {
    if (files.list(folder).some((name) => /\.(part|wal|tags)$/.test(name))) {
      throw unusable(folders.root, 'it holds points but no manifest: repair it, or restore a backup')
    }
  }
  return {
    number: 0,
    token: 0,
    historian,
    id: newId(),
    parts: [],
    catalog: null,
    flushedSequence: 0,
    flushedGeneration: 0,
    accepted: [],
    kept: [],
    retention: null,
  }
}

/** What the first manifest of an owner says of the historian in whose place it is. */
function inPlaceOf({ id, copiedAt }: Version, before: HistorianBefore | null): Pick<Version, 'follows'> {
  const known = before?.id ?? null
  // Also of a copy that followed it already: it has another id from here on, which nobody has noted yet.
  if (known !== null && known !== id) return { follows: known }
  return copiedAt === undefined ? {} : { follows: id }
}

const newId = () => randomBytes(16).toString('hex')

const archiveWriter = (given: Files | undefined) =>
  given === undefined ? startArchiveWriter() : inlineArchiveWriter(given)

/** Removes what no manifest names: left by a kill, or by an owner that was none any more. Other files stay. */
function sweep(files: Files, folders: Folders, version: Version, place: ManifestPlace): void {
  const named = new Set([
    ...version.parts.map(({ name }) => name),
    ...[...version.accepted, ...version.kept].map(({ name }) => name),
    ...(version.catalog === null ? [] : [version.catalog.name]),
  ])
  const isOld = (name: string) => !named.has(name) && (tokenOf(name) ?? version.token) < version.token
  const found = [
    ...oldManifests(files, folders.manifest, place).map((name) => join(folders.manifest, name)),
    ...files
      .list(folders.parts)
      .filter(isOld)
      .map((name) => join(folders.parts, name)),
    ...files
      .list(folders.catalog)
      .filter(isOld)
      .map((name) => join(folders.catalog, name)),
    ...files
      .list(folders.wal)
      .filter((name) => (parseSegmentName(name) !== null || isUnfinished(name)) && isOld(name))
      .map((name) => join(folders.wal, name)),
  ]
  for (const path of found) {
    try {
      files.remove(path)
    } catch (error) {
      if (systemCode(error) === '') throw error
      // It is tried again by the next owner.
    }
  }
}
