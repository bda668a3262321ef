import { join } from 'node:path'
import type { Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import type { Version } from '../manifest/version.ts'
import type { Folders } from './folders.ts'

/** What is known of a historian outside of its folder. */
export interface HistorianBefore {
  /** `null` where that was not noted. */
  readonly id: string | null
  /** Of an owner that it had; `null` where that was not noted. */
  readonly token: number | null
  /** Number of the last record when that owner was closed; `null` where it was not, as it was killed, say. */
  readonly lastSequence: number | null
}

/** A historian whose folder holds this file is made anew on purpose, although it was there before. */
export const BEGIN_ANEW = 'begin-anew'

/** A historian whose folder holds this file is the right one, although another one was there before. */
export const HISTORIAN_IS_RIGHT = 'historian-is-right'

/** Whether a folder says that its historian is to be made anew. */
export function isToBeginAnew(files: Files, root: string): boolean {
  return files.exists(join(root, BEGIN_ANEW))
}

/**
 * For a historian that was in its folder before: throws DATA_DIR_UNUSABLE when it is not. Nothing is made in a folder
 * that may be where a disk is not mounted.
 */
export function checkIsThere(files: Files, { root, manifest, parts, wal }: Folders): void {
  const isThere = [manifest, parts, wal].some((folder) => files.list(folder).length > 0)
  if (isThere || isToBeginAnew(files, root)) return
  const reason =
    'its historian was there before and is not now: mount its disk, or restore a backup; ' +
    `to begin anew on purpose, make an empty file ${BEGIN_ANEW} in it`
  throw unusable(root, reason)
}

/**
 * For a folder that held a historian before: throws DATA_DIR_UNUSABLE when another one is in it, or an earlier state of
 * it that is no backup, and nothing says that it is meant, as when the disks of two were exchanged.
 */
export function checkIsSame(
  files: Files,
  { root }: Folders,
  { id, follows, token, copiedAt }: Version,
  before: HistorianBefore | null,
): void {
  const known = before?.id ?? null
  if (known === null || (known !== id && known === follows)) return
  const isEarlier = copiedAt === undefined && token < (before?.token ?? 0)
  if (known === id && !isEarlier) return
  if (files.exists(join(root, HISTORIAN_IS_RIGHT))) return
  if (known === id) throw earlierState(root, 'from before it was served last')
  const reason =
    `it holds another historian than before, with the id ${id} and not ${known}: mount the right disk, or restore a ` +
    `backup; if this one is to take its place, make an empty file ${HISTORIAN_IS_RIGHT} in it`
  throw unusable(root, reason)
}

/**
 * The same, once the log was read without damage: throws for an earlier state from the life of the owner that was
 * closed last. What that one had answered was on disk.
 */
export function checkHasAll(
  files: Files,
  { root }: Folders,
  { id, token, copiedAt }: Version,
  lastSequence: number,
  before: HistorianBefore | null,
): void {
  if (before === null || before.id !== id || before.token !== token || copiedAt !== undefined) return
  if (lastSequence >= (before.lastSequence ?? 0) || files.exists(join(root, HISTORIAN_IS_RIGHT))) return
  throw earlierState(root, 'from before its service ended')
}

function earlierState(root: string, when: string): Error {
  const reason =
    `it holds an earlier state of its historian, ${when}: what came since is missing; mount the right disk, or ` +
    `restore a backup; if this state is meant, make an empty file ${HISTORIAN_IS_RIGHT} in it`
  return unusable(root, reason)
}

/** Removes what says that a historian is meant, once its manifest does. */
export function removeMarks(files: Files, root: string): void {
  for (const name of [BEGIN_ANEW, HISTORIAN_IS_RIGHT]) {
    if (files.exists(join(root, name))) files.remove(join(root, name))
  }
}
