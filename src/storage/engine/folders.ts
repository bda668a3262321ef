import { join } from 'node:path'
import type { Files } from '../files/files.ts'

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

/** Of a file that an owner made, or began: its token, and a number. */
const NAME = /^(?:manifest-)?([0-9a-f]{8})-[0-9a-f]{8}(?:\.(?:wal|part|tags))?(?:\.new)?$/

/** The token in the name of a file that an owner made; `null` for one that is none of a historian's. */
export function tokenOf(name: string): number | null {
  const match = NAME.exec(name)
  return match === null ? null : Number.parseInt(match[1]!, 16)
}

/** The highest token in the names of a historian's files; 0 where there are none. */
export function highestToken(files: Files, { manifest, wal, parts, catalog }: Folders): number {
  let highest = 0
  for (const folder of [manifest, wal, parts, catalog]) {
    for (const name of files.list(folder)) highest = Math.max(highest, tokenOf(name) ?? 0)
  }
  return highest
}
