import { randomUUID } from 'node:crypto'
import { closeSync, openSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Meta, Root } from './environment.ts'
import { reasonOf, unusable } from './environment.ts'
import { DATA_FILE, LEASE_FILE, META } from './names.ts'
import { tryRoom } from './preflight.ts'
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts'

/** How often an owner touches its lease. */
const LEASE_EVERY_MS = 3_000
/** A lease that was not touched for so long is that of a dead owner. */
const LEASE_LASTS_MS = 20_000

/** Given back with `release`, which never fails; a killed process needs not. */
export interface Ownership {
  /**
   * False once another process took over, because this one stood still for longer than its lease lasts, or a clock was set. To be
   * asked before every commit: two owners would write over each other's journal.
   */
  isHeld(): boolean
  release(): Promise<void>
}

/** Entry `owner` of `meta`. */
interface OwnerRecord extends ProcessIdentity {
  readonly token: string
  /** Of the data file: a copy of the folder is not owned by the owner of the original. */
  readonly inode: number
}

/**
 * Makes this process the only owner of an environment, from one lmdb write transaction that looks for an owner and enters this
 * one: of two that try at the same time one comes second and sees the first.
 *
 * An owner that was killed is told by its process number, start time and boot id. Where these do not tell (another container or
 * machine on a shared volume, or a system without /proc), by its lease, a file that an owner touches every few seconds: there
 * a killed owner stands in the way for up to 20 seconds.
 *
 * @param shown  the folder named in errors
 * Throws DATA_DIR_IN_USE.
 */
export function takeOwnership(root: Root, meta: Meta, folder: string, shown: string): Ownership {
  const lease = join(folder, LEASE_FILE)
  const token = randomUUID()
  const inode = statSync(join(folder, DATA_FILE)).ino
  let touched: TouchedLease | null = null
  try {
    root.transactionSync(() => {
      const owner = meta.get(META.owner)
      if (isOwnerRecord(owner) && owner.inode === inode && isAlive(owner, lease)) {
        throw new TidemarkError('DATA_DIR_IN_USE', {
          directory: shown,
          pid: owner.pid,
          hint: `: stop it first, or go through it with --url`,
        })
      }
      touched = { owner, at: touchedAt(lease) }
      touch(lease)
      meta.put(META.owner, { ...identityOf(process.pid), token, inode } satisfies OwnerRecord)
    })
  } catch (error) {
    if (touched !== null) untouch(root, meta, lease, touched)
    throw error instanceof TidemarkError ? error : unusable(shown, reasonOf(error), error)
  }
  const isEntered = () => {
    const owner = meta.get(META.owner)
    return isOwnerRecord(owner) && owner.token === token
  }
  /** On a disk that is full or fails the entry stays: of a process that has ended, where that can be told, and else with an old lease. */
  const letGo = () => {
    try {
      if (isEntered()) utimesSync(lease, 0, 0)
    } catch {
      // It looks alive for as long as a lease lasts.
    }
  }
  let ran = performance.now()
  const timer = setInterval(() => {
    ran = performance.now()
    try {
      // The lease of a successor is not ours to touch.
      if (isEntered()) touch(lease)
      // What a process that was killed was reading would keep pages from being used again, and the file would grow.
      root.readerCheck()
    } catch {
      // A disk that is full or gone for a moment: the lease lasts for several attempts.
    }
  }, LEASE_EVERY_MS)
  timer.unref()
  return {
    isHeld() {
      // What this turn of the event loop sees can be from before this process stood still.
      if (performance.now() - ran > LEASE_LASTS_MS / 2) root.resetReadTxn()
      return isEntered()
    },
    async release() {
      clearInterval(timer)
      try {
        // lmdb is not asked in vain (room.ts).
        tryRoom(folder)
        root.transactionSync(() => {
          if (isEntered()) meta.remove(META.owner)
        })
      } catch {
        letGo()
      }
    },
  }
}

function isAlive(owner: OwnerRecord, lease: string): boolean {
  return isRunning(owner) ?? isLeaseFresh(lease)
}

function isLeaseFresh(lease: string): boolean {
  return Math.abs(Date.now() - (touchedAt(lease) ?? Number.NEGATIVE_INFINITY)) < LEASE_LASTS_MS
}

/** Milliseconds since 1970; `null` when there is none. */
function touchedAt(lease: string): number | null {
  return statSync(lease, { throwIfNoEntry: false })?.mtimeMs ?? null
}

/** A lease as it was before it was touched, and whose it was. */
interface TouchedLease {
  readonly owner: unknown
  readonly at: number | null
}

/** Makes a lease as old again as it was when its owner could not be entered: that of a dead one must not look alive. */
function untouch(root: Root, meta: Meta, lease: string, { owner, at }: TouchedLease): void {
  try {
    root.transactionSync(() => {
      // Somebody else may have become the owner since.
      if (JSON.stringify(meta.get(META.owner)) !== JSON.stringify(owner)) return
      if (at === null) rmSync(lease, { force: true })
      else utimesSync(lease, at / 1_000, at / 1_000)
    })
  } catch {
    // It looks alive for as long as a lease lasts.
  }
}

function touch(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
    closeSync(openSync(path, 'a'))
  }
}

function isOwnerRecord(value: unknown): value is OwnerRecord {
  if (typeof value !== 'object' || value === null) return false
  const { pid, token, inode } = value as Record<string, unknown>
  return typeof pid === 'number' && typeof token === 'string' && typeof inode === 'number'
}
