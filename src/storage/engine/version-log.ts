import { Damage } from '../damage.ts'
import { systemCode } from '../files/files.ts'
import type { ManifestWriter } from '../manifest/manifest-file.ts'
import type { Edit, Version } from '../manifest/version.ts'
import type { Ownership } from '../ownership/ownership.ts'
import type { PartInfo } from '../parts/part.ts'
import type { OpenParts } from './part-set.ts'

/** Up to where a manifest says what a version is: its number, and bytes. */
export interface ManifestEnd {
  readonly number: number
  readonly bytes: number
}

/** A part that an edit adds is damaged or gone already: its points must be written anew, as it does not come back. */
export class LostPart extends Damage {
  constructor(cause: unknown) {
    super(`a part that was just written cannot be read: ${(cause as Error).message}`, cause)
    this.name = 'LostPart'
  }
}

/** Moves a historian from version to version: one edit at a time, durable before anything follows from it. */
export class VersionLog {
  readonly #manifest: ManifestWriter
  readonly #ownership: Ownership
  readonly #parts: OpenParts
  readonly #between: (run: () => void) => Promise<void>
  readonly #publish: () => boolean
  readonly #dropped: (manifests: readonly string[]) => void
  #shown: ManifestEnd
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param between  runs something when no change is being worked out, which sees parts and memory of one moment
   * @param publish  publishes the version to other processes; whether that was done
   * @param dropped  takes names of manifests that count no more
   */
  constructor(
    manifest: ManifestWriter,
    ownership: Ownership,
    parts: OpenParts,
    between: (run: () => void) => Promise<void>,
    publish: () => boolean,
    dropped: (manifests: readonly string[]) => void,
  ) {
    this.#manifest = manifest
    this.#ownership = ownership
    this.#parts = parts
    this.#between = between
    this.#publish = publish
    this.#dropped = dropped
    this.#shown = endOf(manifest)
  }

  get version(): Version {
    return this.#manifest.version
  }

  /** Where the version ends that reads of this process are on: a later one may be durable that nobody is on yet. */
  get shown(): ManifestEnd {
    return this.#shown
  }

  /** Throws Superseded when this process is not the owner any more. */
  checkOwner(): void {
    this.#ownership.check()
  }

  /**
   * Makes an edit, and the version after it that of reads. Rejects with Superseded, the system's error, or LostPart of
   * one that it adds; then files that the edit adds must stay, as it is not known whether it counts, until another
   * edit has succeeded. The same edit may be made again.
   * @param then  what follows from it in memory, in the same turn of the event loop
   */
  edit(edit: Edit, then: () => void = () => {}): Promise<void> {
    const done = this.#last.then(async () => {
      this.#ownership.check()
      // Before the edit counts: from then on nothing may fail.
      const added = this.#openAhead(edit.add ?? [])
      try {
        const version = await this.#manifest.edit(edit)
        const end = endOf(this.#manifest)
        await this.#between(() => {
          this.#parts.moveTo(version)
          // What is published meanwhile names the version before: others are never ahead of this process.
          this.#shown = end
          then()
          // What was published last is read still while nothing later can be.
          const replaced = this.#publish() ? this.#manifest.takeReplaced() : []
          if (replaced.length > 0) this.#dropped(replaced)
        })
      } finally {
        added()
      }
    })
    this.#last = done.catch(() => {})
    return done
  }

  #openAhead(infos: readonly PartInfo[]): () => void {
    try {
      return this.#parts.openAhead(infos)
    } catch (error) {
      throw error instanceof Damage || systemCode(error) === 'ENOENT' ? new LostPart(error) : error
    }
  }

  /** Resolves when no edit is under way. */
  async idle(): Promise<void> {
    await this.#last
  }
}

const endOf = ({ place, bytes }: ManifestWriter): ManifestEnd => ({ number: place.number, bytes })
