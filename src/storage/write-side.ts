import { setImmediate } from 'node:timers/promises'
import { CommitFailed } from './changes.ts'
import { FoldTrouble, type TroubleLog } from './fold-trouble.ts'
import type { FoldLimits } from './folder.ts'
import { UNFOLDED } from './historian-errors.ts'
import { type HistorianParts, isCurrent } from './historian-parts.ts'
import type { LateOwnership } from './late-ownership.ts'
import type { ReadSide } from './read-side.ts'
import { Writer } from './writer.ts'

/** Whether this process may change a historian, and the writer that does as soon as it may. */
export class WriteSide {
  readonly #parts: HistorianParts
  readonly #reads: ReadSide
  readonly #ownership: LateOwnership | null
  readonly #trouble: FoldTrouble
  #isClosed = false
  /** `null` when another process may change what is read here: it was opened to read, or could not be owned yet. */
  #writer: Writer | null = null

  /** @param ownership  `null` when it was opened to read */
  constructor(
    parts: HistorianParts,
    reads: ReadSide,
    ownership: LateOwnership | null,
    limits: FoldLimits,
    log: TroubleLog | null,
  ) {
    this.#parts = parts
    this.#reads = reads
    this.#ownership = ownership
    this.#trouble = new FoldTrouble(parts.historian, log)
    if (ownership?.missing === null) this.#begin(limits)
    else if (ownership !== null) this.#beginLater(ownership, limits, log)
  }

  #beginLater(ownership: LateOwnership, limits: FoldLimits, log: TroubleLog | null): void {
    const { historian } = this.#parts
    const fields = { historian, reason: ownership.missing }
    log?.error(fields, 'there is no room to become the owner of the data: they are only read until there is')
    ownership.onTaken(() => {
      this.#beginWhenUnread(limits).then(
        () => log?.info({ historian }, 'there is room again: changes are made'),
        (error: unknown) => log?.error({ err: error, historian }, 'changes cannot be made'),
      )
    })
  }

  /** From a historian that is only read makes one that is changed, once it is owned. */
  async #beginWhenUnread(limits: FoldLimits): Promise<void> {
    // Reads that began on what is in memory go on with it.
    while (this.#reads.isJoined) await setImmediate()
    if (this.#isClosed) return
    this.#reads.catchUp()
    if (!isCurrent(this.#parts.stores.meta)) throw new Error('another version has changed the data meanwhile')
    this.#begin(limits)
  }

  #begin(limits: FoldLimits): void {
    this.#writer = new Writer({
      ...this.#parts,
      limits,
      trouble: this.#trouble,
      state: this.#reads.catchUpJournal(),
      damage: () => this.#reads.damage,
      checkOwned: () => this.#checkOwned(),
      errorOf: (error) =>
        error instanceof CommitFailed ? this.#parts.errors.commitFailed(error) : this.#reads.errorOf(error),
    })
    this.#reads.stopFollowing()
  }

  /** Who changes the historian. Throws WRITE_FAILED as long as it is not owned; one that was opened to read is never asked to. */
  get writer(): Writer {
    if (this.#writer !== null) return this.#writer
    throw this.#ownership === null ? new TypeError('the historian was opened to read') : this.#notOwned()
  }

  /** What somebody should look at although reads are answered; `null` for nothing. */
  get trouble(): string | null {
    const { reason } = this.#trouble
    return reason === null ? null : `${UNFOLDED}: ${reason}`
  }

  /** Throws what writes get now; a historian that was opened to read always passes. */
  check(): void {
    if (this.#ownership !== null && this.#writer === null) throw this.#notOwned()
    this.#checkOwned()
    const refusal = this.#writer?.refusal ?? null
    if (refusal !== null) throw refusal
  }

  /** Finishes all changes that were asked for. Nothing is called afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writer?.close()
    await this.#ownership?.release()
  }

  #checkOwned(): void {
    if (this.#ownership?.isHeld() === false) throw this.#parts.errors.takenOver()
  }

  #notOwned(): Error {
    return this.#parts.errors.notOwned(this.#ownership?.missing ?? 'changes begin just now')
  }
}
