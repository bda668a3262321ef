import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import type { Files } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'

/**
 * Files that cannot be read, or were written anew without what is damaged, are moved here. Reports of what is lost
 * stand here, too (lost-reports.ts).
 */
export const ASIDE = 'damaged'

/** Moves files of a historian out of the way, durably, and notes their names. */
export class SetAside {
  readonly names: string[] = []
  /** What could not be moved, one sentence each. */
  readonly left: string[] = []
  readonly #files: Files
  readonly #target: string

  /** @param root  folder of the historian */
  constructor(files: Files, root: string) {
    this.#files = files
    this.#target = join(root, ASIDE)
  }

  move(folder: string, name: string): void {
    this.#files.makeFolder(this.#target)
    this.#files.rename(join(folder, name), join(this.#target, name))
    this.#files.syncFolder(this.#target)
    this.#files.syncFolder(folder)
    this.names.push(name)
  }

  /** As `move`, for a file that counts no more: what the system refuses is noted in `left`. */
  tryToMove(folder: string, name: string): void {
    try {
      this.move(folder, name)
    } catch (error) {
      if (systemCode(error) === '') throw error
      this.left.push(`${name} could not be moved to the folder ${ASIDE}: ${reasonOf(error)}`)
    }
  }

  /** Names of the parts that are there, also of earlier repairs. */
  parts(): readonly string[] {
    return this.#files.list(this.#target).filter((name) => name.endsWith('.part'))
  }
}
