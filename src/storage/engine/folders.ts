import { join } from 'node:path'

/** The folders of a historian on files. */
export interface Folders {
  readonly root: string
  readonly manifest: string
  readonly wal: string
  readonly parts: string
  readonly catalog: string
}

export function foldersOf(root: string): Folders {
  return {
    root,
    manifest: join(root, 'manifest'),
    wal: join(root, 'wal'),
    parts: join(root, 'parts'),
    catalog: join(root, 'catalog'),
  }
}
