import { systemCode } from '../../errors/system-code.ts'
import { Damage } from '../damage.ts'
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
  readonly #dropped: (folder: 'manifest' | 'parts', names: readonly string[]) => void
  /** Names of parts that are added by an edit which failed: it may be on disk, until another one has succeeded. */
  readonly #unclear = new Set<string>()
  /** Those of them that are lost, and go then. */
  readonly #lost = new Set<string>()
  #shown: ManifestEnd
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param between  runs something when no change is being worked out, which sees parts and memory of one moment
   * @param publish  publishes the version to other processes; whether that was done
   * @param dropped  takes names of manifests that count no more, and of parts that are lost and never counted
   */
  constructor(
    manifest: ManifestWriter,
    ownership: Ownership,
    parts: OpenParts,
    between: (run: () => void) => Promise<void>,
    publish: () => boolean,
    dropped: (folder: 'manifest' | 'parts', names: readonly string[]) => void,
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
   * Makes an edit, and the version after it that of reads. Rejects with Superseded or the system's error; then files
   * that the edit adds must stay, as it is not known whether it counts, until another edit has succeeded, and the same
   * edit may be made again. Rejects with LostPart where one of the parts that it adds is lost; then all of them are
   * dropped, as soon as no edit on disk can name them.
   * @param then  what follows from it in memory, in the same turn of the event loop
   */
  edit(edit: Edit, then: () => void = () => {}): Promise<void> {
    const done = this.#last.then(async () => {
      this.#ownership.check()
      // Before the edit counts: from then on nothing may fail.
      const added = this.#openAhead(edit.add ?? [])
      try {
        const version = await this.#editManifest(edit)
        const end = endOf(this.#manifest)
        await this.#between(() => {
          this.#parts.moveTo(version)
          // What is published meanwhile names the version before: others are never ahead of this process.
          this.#shown = end
          then()
          // What was published last is read still while nothing later can be.
          const replaced = this.#publish() ? this.#manifest.takeReplaced() : []
          if (replaced.length > 0) this.#dropped('manifest', replaced)
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
      if (!(error instanceof Damage) && systemCode(error) !== 'ENOENT') throw error
      this.#lose(infos.map(({ name }) => name))
      throw new LostPart(error)
    }
  }

  async #editManifest(edit: Edit): Promise<Version> {
    try {
      const version = await this.#manifest.edit(edit)
      this.#unclear.clear()
      this.#lose([...this.#lost])
      this.#lost.clear()
      return version
    } catch (error) {
      for (const { name } of edit.add ?? []) this.#unclear.add(name)
      throw error
    }
  }

  /** Gives up parts that never counted. */
  #lose(names: readonly string[]): void {
    const gone = names.filter((name) => !this.#unclear.has(name))
    for (const name of names) if (this.#unclear.has(name)) this.#lost.add(name)
    if (gone.length > 0) this.#dropped('parts', gone)
  }

  /** Resolves when no edit is under way. */
  async idle(): Promise<void> {
    await this.#last
  }
}

const endOf = ({ place, bytes }: ManifestWriter): ManifestEnd => ({ number: place.number, bytes })
