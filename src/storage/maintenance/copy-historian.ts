import { join } from 'node:path'
import { systemClock } from '../clock.ts'
import { Damage } from '../damage.ts'
import { type Folders, foldersOf } from '../engine/folders.ts'
import { type Files, isGone } from '../files/files.ts'
import { refuseOldFormat } from '../files/old-format.ts'
import { unusable } from '../files/refusals.ts'
import { listManifests, ManifestWriter, readManifest } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'
import { tokenText } from '../ownership/ownership.ts'
import { CopiedFiles, type CopyCounts, type CopyMode } from './copied-files.ts'
import { type Moment, MovedOn, momentOf } from './moment.ts'

/** How a historian is copied. */
export interface CopyOptions {
  readonly mode: CopyMode
  /** Folder of an earlier copy, which need not be there: files that it has are linked from it, not copied again. */
  readonly earlier?: string
}

/** What was copied. */
export interface HistorianCopy extends CopyCounts {
  readonly version: Version
  /** What was copied, as its own manifest has it. */
  readonly source: Moment
}

/** The owner may go on for so long that a file is gone before it is copied. */
const TRIES = 20

/**
 * Copies a historian on files to a folder, also beside its owner: one moment of it, with all that was acknowledged
 * before the call. The folder may hold an earlier copy of the same historian: then only what is new is copied. The copy
 * is a historian that can be opened.
 *
 * Throws DATA_DIR_UNUSABLE when there is no historian, another one's copy in the folder, or no way to link files;
 * Damage for a manifest or a log that cannot be read, or a part whose file is missing; the signal's reason; the
 * system's errors. A folder without a manifest is no finished copy.
 */
export async function copyHistorian(
  files: Files,
  from: string,
  to: string,
  { mode, earlier }: CopyOptions,
  signal: AbortSignal,
): Promise<HistorianCopy> {
  refuseOldFormat(files, from)
  const source = foldersOf(from)
  const target = foldersOf(to)
  for (const folder of [...Object.values(target), join(to, 'owner')]) files.makeFolder(folder)
  const copied = new CopiedFiles(files, mode)
  for (let left = TRIES; ; left--) {
    signal.throwIfAborted()
    try {
      const versions = await copyMoment(files, source, target, earlier ?? null, copied, signal)
      return { ...versions, ...copied.counts }
    } catch (error) {
      // The owner has moved on: what is named now is there now.
      if (left > 0 && (error instanceof MovedOn || isGone(error))) continue
      throw error instanceof MovedOn ? new Damage(error.message) : error
    }
  }
}

async function copyMoment(
  files: Files,
  source: Folders,
  target: Folders,
  earlier: string | null,
  copied: CopiedFiles,
  signal: AbortSignal,
): Promise<Pick<HistorianCopy, 'version' | 'source'>> {
  const moment = momentOf(files, source)
  // The copy of a copy has the moment of the first. Nothing in it was committed later. Its archive is another one.
  const { copiedAt = systemClock() } = moment.version
  const version = { ...moment.version, kept: [], copiedAt }
  checkTarget(files, target, version)
  const earlierParts = earlier === null ? null : partsOfCopy(files, foldersOf(earlier), version)
  const wanted = new Set<string>()
  for (const { name, bytes } of version.parts) {
    signal.throwIfAborted()
    wanted.add(join(target.parts, name))
    await copied.putFinal(name, bytes, source.parts, target.parts, earlierParts).catch((error: unknown) => {
      if (!isGone(error) || files.exists(join(source.parts, name))) throw error
      throw new MovedOn(`the file of part ${name} is missing`)
    })
  }
  const growing = [
    ...(version.catalog === null ? [] : [{ ...version.catalog, folder: 'catalog' as const }]),
    ...version.accepted.map((segment) => ({ ...segment, folder: 'wal' as const })),
  ]
  for (const { name, bytes, folder } of growing) {
    signal.throwIfAborted()
    wanted.add(join(target[folder], name))
    await copied.putBeginning(name, bytes, source[folder], target[folder])
  }
  copied.keepOnly(wanted)
  for (const folder of [target.parts, target.catalog, target.wal]) files.syncFolder(folder)
  claimToken(files, target, version.token)
  const before = listManifests(files, target.manifest)
  const manifest = new ManifestWriter(files, target.manifest, version, before.at(-1)?.number ?? 0)
  await manifest.begin()
  manifest.close()
  return { version, source: moment }
}

function checkTarget(files: Files, target: Folders, { id }: Version): void {
  const place = listManifests(files, target.manifest).at(-1)
  if (place === undefined) return
  const { version } = readManifest(files, target.manifest, place)
  if (version.id !== id) throw unusable(target.root, `it holds the historian ${version.historian}`)
}

/** Where an earlier copy of the same historian has its parts; `null` when it is none, or cannot be read. */
function partsOfCopy(files: Files, earlier: Folders, { id }: Version): string | null {
  const place = listManifests(files, earlier.manifest).at(-1)
  if (place === undefined) return null
  try {
    return readManifest(files, earlier.manifest, place).version.id === id ? earlier.parts : null
  } catch {
    return null
  }
}

/** The next owner of the copy must use no name that is in it. */
export function claimToken(files: Files, target: Folders, token: number): void {
  const folder = join(target.root, 'owner')
  const path = join(folder, tokenText(token))
  if (!files.exists(path)) files.create(path).close()
  files.syncFolder(folder)
}
