import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import type { TidemarkError } from '../../errors/tidemark-error.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'
import { isLocked, type KernelLock, takeKernelLock } from './kernel-lock.ts'
import { AlreadyOwned, type Ownership, Superseded, tokenText } from './ownership.ts'

const LOCK_FILE = 'owner.lock'

/** Claims that stay; of older ones nobody needs to know. */
const KEPT_CLAIMS = 2

/** So many claims are lost in no life; the name of a file that is none of the historian's may have any number. */
const MOST_PASSED_OVER = 10_000

const CLAIM = /^[0-9a-f]{8}$/

/** Token of the last owner that claimed a historian; 0 for none. */
export function currentToken(files: Files, folder: string): number {
  return claimsOf(files, join(folder, 'owner')).at(-1) ?? 0
}

/** The file that is the claim of a token. */
export function claimPath(folder: string, token: number): string {
  return join(folder, 'owner', tokenText(token))
}

/**
 * Whether the owner with a token goes on: what it has not published may not be durable. One that has ended, of this
 * kernel, or that another one is about to take the place of, adds nothing any more.
 */
export function isOwnerAlive(files: Files, folder: string, token: number): boolean {
  // In this order: an owner claims its token when it has the lock.
  return isLocked(files, join(folder, LOCK_FILE)) && currentToken(files, folder) <= token
}

/**
 * Makes this process the owner of a historian. On one kernel the lock of SQLite on `owner.lock` keeps others away: it
 * lasts as long as the process (kernel-lock.ts). Across kernels that do not see each other's locks, a claim supersedes
 * the owner before it (Ownership.check).
 *
 * Throws AlreadyOwned, DATA_DIR_UNUSABLE for a token far above that of the last claim, what Files throws, and errors of
 * node:sqlite.
 *
 * @param used  highest token in names of files: it is not used again, also where its claim is missing
 */
export function claimOwnership(files: Files, folder: string, used = 0): Ownership {
  const owner = join(folder, 'owner')
  files.makeFolder(owner)
  const lock = takeKernelLock(files, join(folder, LOCK_FILE))
  try {
    return new Claim(files, owner, claim(files, folder, used), lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

interface Entered {
  readonly token: number
  /** Open for as long as it is looked at: some file systems number a file anew that nobody has open. */
  readonly file: FileHandle
}

/** Enters the next token, durably. Throws AlreadyOwned when another kernel does so at the same moment. */
function claim(files: Files, folder: string, used: number): Entered {
  const owner = join(folder, 'owner')
  const claims = claimsOf(files, owner)
  let token = (claims.at(-1) ?? used) + 1
  if (used - token >= MOST_PASSED_OVER) throw strayToken(folder, used)
  let file = create(files, join(owner, tokenText(token)))
  // One by one: an owner before looks for the claim after its own, and another kernel that claims one between fails.
  while (token <= used) {
    file.close()
    file = create(files, join(owner, tokenText(++token)))
  }
  try {
    files.syncFolder(owner)
  } catch (error) {
    file.close()
    throw error
  }
  // The oldest first: Claim.check relies on it.
  for (const old of claims.slice(0, Math.max(0, claims.length + 1 - KEPT_CLAIMS))) {
    try {
      files.remove(join(owner, tokenText(old)))
    } catch {
      // It is tried again by the next owner; those behind it must stay until then.
      break
    }
  }
  return { token, file }
}

function strayToken(folder: string, token: number): TidemarkError {
  const reason =
    `the name of a file has the number ${tokenText(token)}, far above those of all owners: move the file away if it ` +
    'is not one of this historian'
  return unusable(folder, reason)
}

function create(files: Files, path: string): FileHandle {
  try {
    return files.create(path)
  } catch (error) {
    throw systemCode(error) === 'EEXIST' ? new AlreadyOwned() : error
  }
}

/** Tokens of the claims, ascending. */
function claimsOf(files: Files, owner: string): readonly number[] {
  return files
    .list(owner)
    .filter((name) => CLAIM.test(name))
    .map((name) => Number.parseInt(name, 16))
}

class Claim implements Ownership {
  readonly token: number
  readonly #files: Files
  readonly #owner: string
  readonly #lock: KernelLock
  readonly #file: FileHandle
  readonly #own: string
  readonly #next: string
  #superseded: Superseded | null = null
  #isReleased = false

  constructor(files: Files, owner: string, { token, file }: Entered, lock: KernelLock) {
    this.token = token
    this.#files = files
    this.#owner = owner
    this.#lock = lock
    this.#file = file
    this.#own = join(owner, tokenText(token))
    this.#next = join(owner, tokenText(token + 1))
  }

  get isSuperseded(): boolean {
    return this.#superseded !== null
  }

  check(): void {
    // In this order: whoever removes the next claim removed this one before. For good: what is durable and was not
    // answered is in the log and not in memory, so that nothing more may be worked out on what is in memory.
    this.#superseded ??=
      this.#files.exists(this.#next) || !this.#file.isAt(this.#own) ? this.#findReason() : null
    if (this.#superseded !== null) throw this.#superseded
  }

  release(): void {
    if (!this.#isReleased) this.#file.close()
    this.#isReleased = true
    this.#lock.release()
  }

  #findReason(): Superseded {
    try {
      return new Superseded((claimsOf(this.#files, this.#owner).at(-1) ?? 0) <= this.token)
    } catch {
      return new Superseded(true)
    }
  }
}
