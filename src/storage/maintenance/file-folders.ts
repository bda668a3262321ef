import { foldersOf } from '../engine/folders.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'

/** Whether a folder holds any file of a historian. */
export function hasFiles(folder: string): boolean {
  const { manifest, wal, parts, catalog } = foldersOf(folder)
  return [manifest, wal, parts, catalog].some((one) => systemFiles.list(one).length > 0)
}

/** The name that a historian was made with; `null` when its manifest cannot be read. */
export function nameInManifest(folder: string): string | null {
  const { manifest } = foldersOf(folder)
  const place = listManifests(systemFiles, manifest).at(-1)
  try {
    return place === undefined ? null : readManifest(systemFiles, manifest, place).version.historian
  } catch {
    // What is wrong with it is reported when it is opened.
    return null
  }
}
