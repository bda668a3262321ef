/**
 * The right to change a historian. On one kernel a lock held for life keeps a second owner away; across kernels the
 * highest token counts: a successor claims `owner/<token + 1>`, and its predecessor finds that before it answers
 * anything.
 */
export interface Ownership {
  /** From 1; each owner's is higher than that of all before. All names of files carry it. */
  readonly token: number
  /** Whether `check` has thrown `Superseded`: then it always does. */
  readonly isSuperseded: boolean
  /**
   * Throws `Superseded` when a successor has claimed the historian, or its folder is another one than before. To be
   * called after a sync and before the answer, before each change of the manifest and before each unlink.
   */
  check(): void
  /** Frees the lock. The token stays. */
  release(): void
}

/**
 * Nothing that this process does counts any more: another one has claimed the historian, or its folder is not there.
 */
export class Superseded extends Error {
  /** Whether no successor is known: the folder was moved away, and perhaps another one put in its place. */
  readonly isFolderGone: boolean

  constructor(isFolderGone: boolean) {
    super(isFolderGone ? 'the folder was replaced' : 'another process has claimed the historian')
    this.name = 'Superseded'
    this.isFolderGone = isFolderGone
  }
}

/** The historian is owned by another process of this kernel. */
export class AlreadyOwned extends Error {
  constructor() {
    super('another process owns the historian')
    this.name = 'AlreadyOwned'
  }
}

/** Eight digits, so that names sort as numbers do. */
export function tokenText(token: number): string {
  return token.toString(16).padStart(8, '0')
}
