import { join } from 'node:path'
import type { Files } from '../files/files.ts'

/** Files that cannot be read, or were written anew without what is damaged, are moved here. */
const ASIDE = 'damaged'

/** Moves files of a historian out of the way, durably, and notes their names. */
export class SetAside {
  readonly names: string[] = []
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
}
