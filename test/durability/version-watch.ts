import { join } from 'node:path'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { listManifests, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import type { Version } from '../../src/storage/manifest/version.ts'

/** The newest version that a historian's manifest has. */
export function newestVersion(folder: string): Version {
  const manifests = join(folder, 'manifest')
  return readManifest(systemFiles, manifests, listManifests(systemFiles, manifests).at(-1)!).version
}

/** Watermark of the first rule; minus infinity before there is one. */
export const watermarkIn = ({ retention }: Version): number =>
  retention?.watermarks[0] ?? Number.NEGATIVE_INFINITY

/** Counts, from outside, what is done to the files of a historian, at least: what it misses is done more often. */
export class VersionWatch {
  flushes = 0
  merges = 0
  retentionSteps = 0
  readonly #folder: string
  #last: Version | null = null
  readonly #timer: NodeJS.Timeout

  constructor(folder: string) {
    this.#folder = folder
    this.#timer = setInterval(() => this.look(), 50)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  look(): void {
    let version: Version
    try {
      version = newestVersion(this.#folder)
    } catch {
      // There is none yet, or another one took its place meanwhile.
      return
    }
    const before = this.#last
    this.#last = version
    if (before === null || version.number <= before.number) return
    if (version.flushedSequence > before.flushedSequence) this.flushes++
    const names = new Set(version.parts.map(({ name }) => name))
    // Only a merge removes parts.
    if (before.parts.some(({ name }) => !names.has(name))) this.merges++
    if (watermarkIn(version) > watermarkIn(before)) this.retentionSteps++
  }
}
