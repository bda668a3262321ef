import { foldersOf } from '../engine/folders.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import type { Version } from '../manifest/version.ts'

/** Whether a folder holds any file of a historian. */
export function hasFiles(folder: string): boolean {
  const { manifest, wal, parts, catalog } = foldersOf(folder)
  return [manifest, wal, parts, catalog].some((one) => systemFiles.list(one).length > 0)
}

/** What the newest manifest of a historian says; `null` when there is none, or it cannot be read. */
export function versionInManifest(folder: string): Version | null {
  const { manifest } = foldersOf(folder)
  try {
    const place = listManifests(systemFiles, manifest).at(-1)
    return place === undefined ? null : readManifest(systemFiles, manifest, place).version
  } catch {
    // What is wrong with it is reported when it is opened.
    return null
  }
}
