import type { Damage } from '../damage.ts'
import type { Part, PartInfo, PartOrigin, PartWriter } from './part.ts'

/** The parts of one historian: the folder, the block cache that they share, and how they are made. */
export interface PartStore {
  /**
   * Opens a part that a manifest names. Throws Damage when its footer or its size does not fit `info`, ENOENT when it
   * is gone.
   */
  open(info: PartInfo): Part
  /**
   * Opens what is intact of a part that `open` refused with Damage, or whose table of pages is damaged; `null` when
   * nothing is. May read all of the file. Rejects with the system's errors but EIO, and with the signal's reason.
   */
  recover(info: PartInfo, damage: Damage, signal: AbortSignal): Promise<Part | null>
  /** What the footer of a file says, to rebuild a manifest from. Throws Damage. */
  inspect(name: string): { readonly info: PartInfo; readonly origin: PartOrigin }
  /** Begins a new file, which must not exist. */
  create(name: string, origin: PartOrigin): PartWriter
  /** Bytes that the block cache holds. */
  readonly cachedBytes: number
}
