import { basename, join, resolve } from 'node:path'
import type { DataDirectory } from '../directory/data-directory.ts'
import type { HistorianElsewhere } from '../directory/elsewhere.ts'
import type { KnownHistorian } from '../directory/known-historians.ts'
import { ELSEWHERE_FOLDER } from '../directory/layout.ts'
import { type HistorianBefore, isToBeginAnew } from '../engine/was-there.ts'
import type { Files } from '../files/files.ts'
import { historianFolder } from '../files/historian-folder.ts'
import type { Version } from '../manifest/version.ts'
import { hasFiles, versionInManifest } from './file-folders.ts'

/** An embedded historian that belongs to a data directory. */
export interface StoredHistorian {
  readonly name: string
  readonly folder: string
  /** Whether its folder is one of the data directory's own. */
  readonly isInside: boolean
  /** What is known of it from when it was opened from the directory; `null` where it never was. */
  readonly before: HistorianBefore | null
}

/**
 * The historians of a data directory, those that should be there and are missing among them: the folders inside, those
 * that are configured to stand elsewhere, and all that were opened from the directory before, where they stood then. So
 * a loss is noticed without the configuration of the service. One that was before is left out where its folder says
 * that it begins anew. Of a backup it is the copies in it, never the originals.
 * @param configured  historians that stand elsewhere as the configuration has it, which counts first
 */
export async function storedHistorians(
  files: Files,
  directory: DataDirectory,
  configured: readonly HistorianElsewhere[],
): Promise<readonly StoredHistorian[]> {
  const known = new Map((await directory.known.list()).map((one) => [one.name, one]))
  const names = new Map([...known.values()].map((one) => [resolve(placeOf(files, directory, one)), one.name]))
  const found = new Map<string, StoredHistorian>()
  const add = (folder: string, configuredName: string | null, isInside: boolean) => {
    const key = resolve(folder)
    if (found.has(key)) return
    const name = configuredName ?? names.get(key) ?? versionInManifest(folder)?.historian ?? basename(folder)
    found.set(key, { name, folder, isInside, before: known.get(name) ?? null })
  }
  const inside = new Set(directory.historianDirectories())
  for (const folder of inside) if (!isLeftOut(files, folder)) add(folder, null, true)
  for (const { name, folder } of configured) {
    const isInside = inside.has(resolve(folder))
    const place = isInside ? folder : placeOutside(files, directory, name, folder, known.get(name) ?? null)
    add(place, name, isInside)
  }
  const isConfigured = new Set(configured.map(({ name }) => name))
  for (const one of known.values()) {
    if (isConfigured.has(one.name)) continue
    const place = placeOf(files, directory, one)
    if (!isLeftOut(files, place)) add(place, one.name, one.folder === null)
  }
  return [...found.values()]
}

/** Where a historian that was opened before should be. */
function placeOf(files: Files, directory: DataDirectory, known: KnownHistorian): string {
  const { name, folder } = known
  if (folder === null) return directory.historianDirectory(name)
  return placeOutside(files, directory, name, folder, known)
}

/**
 * Where a historian with a folder outside of the data directory should be: in a backup its copy stands inside, and what
 * stands in that folder is the original, which says nothing of the backup; also where the copy is lost.
 * @param before  what the data directory knows of it; `null` for nothing
 */
function placeOutside(
  files: Files,
  directory: DataDirectory,
  name: string,
  folder: string,
  before: HistorianBefore | null,
): string {
  const id = before?.id ?? null
  const copy = join(directory.path, ELSEWHERE_FOLDER, historianFolder(name))
  if (files.exists(copy)) {
    const version = versionInManifest(copy)
    // One that is left there although the historian was restored to its folder, and served, has the id of before.
    const isOwn = id === null ? !directory.wasOwned : version === null || isOf(version, id)
    return isOwn ? copy : folder
  }
  if (directory.wasOwned || id === null) return folder
  // What was put back there is a copy, or was restored from one.
  const version = versionInManifest(folder)
  return version?.id === id && version.copiedAt === undefined ? copy : folder
}

const isOf = ({ id, follows }: Version, known: string) => id === known || follows === known

function isLeftOut(files: Files, folder: string): boolean {
  return isToBeginAnew(files, folder) && !hasFiles(folder)
}
