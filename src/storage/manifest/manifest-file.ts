import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import { type FileHandle, type Files, readFile, removeQuietly } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import { checkEdit, checkVersion } from './check-fields.ts'
import { retentionFromJson } from './retention-state.ts'
import { applyEdit, type Edit, type Version } from './version.ts'

/**
 * A manifest: entries of u32 bytes of the text, u32 CRC-32 of it, and the text, JSON in UTF-8. The first entry is a
 * version as a whole, those behind it are edits. It comes to its name when the first entry is durable, so that one with
 * a name always has it.
 */
export const MANIFEST_FORMAT = 1

interface FirstEntry {
  readonly format: number
  readonly version: Version
}

/** Where a manifest is: the highest counts. */
export interface ManifestPlace {
  readonly token: number
  readonly number: number
}

const NAME = /^manifest-([0-9a-f]{8})-([0-9a-f]{8})$/
const UNFINISHED = '.new'
const HEADER_BYTES = 8
const OPENING_BRACE = 0x7b

export function manifestName({ token, number }: ManifestPlace): string {
  return `manifest-${tokenText(token)}-${tokenText(number)}`
}

/** All manifests of a folder, the lowest first. */
export function listManifests(files: Files, folder: string): readonly ManifestPlace[] {
  // Names of a fixed length sort as their numbers do.
  return files.list(folder).flatMap((name) => {
    const match = NAME.exec(name)
    if (match === null) return []
    return [{ token: Number.parseInt(match[1]!, 16), number: Number.parseInt(match[2]!, 16) }]
  })
}

/** Whether a historian has moved on from a version that was read: what that named may be gone. */
export function hasMovedOn(files: Files, folder: string, place: ManifestPlace, bytes: number): boolean {
  const last = listManifests(files, folder).at(-1)
  if (last === undefined || last.token !== place.token || last.number !== place.number) return true
  const file = files.open(join(folder, manifestName(place)))
  try {
    return file.size() > bytes
  } finally {
    file.close()
  }
}

/** Manifests in the folder that do not count, also unfinished ones. */
export function oldManifests(files: Files, folder: string, current: ManifestPlace): readonly string[] {
  const name = manifestName(current)
  const isManifest = (one: string) =>
    NAME.test(one.endsWith(UNFINISHED) ? one.slice(0, -UNFINISHED.length) : one)
  return files.list(folder).filter((one) => isManifest(one) && one < name)
}

export interface ReadManifest {
  readonly version: Version
  /** Bytes of the file that were read. */
  readonly bytes: number
}

/**
 * What a manifest says up to `limit`. What a power cut leaves of the last edit is left out, as nothing was done yet
 * that follows from it. Throws Damage for anything else that cannot be read, and ENOENT.
 */
export function readManifest(
  files: Files,
  folder: string,
  place: ManifestPlace,
  limit = Number.POSITIVE_INFINITY,
): ReadManifest {
  const all = readFile(files, join(folder, manifestName(place)))
  const bytes = Buffer.from(all.buffer, 0, Math.min(all.length, limit))
  const first = readEntry(bytes, 0)
  if (first === null) throw new Damage('the first entry of the manifest cannot be read')
  const { format, version } = (first.value ?? {}) as Partial<FirstEntry>
  if (format !== MANIFEST_FORMAT) throw new Damage(`the manifest has the unknown format ${format}`)
  return readEdits(bytes, revive(checkVersion(version)), first.end)
}

/** The versions that the edits between two lengths of a manifest lead to. */
export function readMore(
  files: Files,
  folder: string,
  place: ManifestPlace,
  { version, bytes: from }: ReadManifest,
  until: number,
): ReadManifest {
  const file = files.open(join(folder, manifestName(place)))
  try {
    const bytes = Buffer.alloc(until - from)
    if (file.readNow(bytes, from) < bytes.length) throw new Damage('the manifest is too short')
    const read = readEdits(bytes, version, 0)
    return { version: read.version, bytes: from + read.bytes }
  } finally {
    file.close()
  }
}

function readEdits(bytes: Buffer, from: Version, start: number): ReadManifest {
  let version = from
  let at = start
  while (at < bytes.length) {
    const entry = readEntry(bytes, at)
    if (entry === null) {
      if (isTorn(bytes, at)) break
      throw new Damage('an edit of the manifest cannot be read')
    }
    const edit = reviveEdit(checkEdit(entry.value))
    try {
      version = applyEdit(version, edit)
    } catch (error) {
      throw new Damage(`an edit of the manifest contradicts it: ${(error as Error).message}`)
    }
    at = entry.end
  }
  return { version, bytes: at }
}

function readEntry(bytes: Buffer, at: number): { readonly value: unknown; readonly end: number } | null {
  if (at + HEADER_BYTES > bytes.length) return null
  const length = bytes.readUInt32LE(at)
  const end = at + HEADER_BYTES + length
  if (length === 0 || end > bytes.length) return null
  const text = bytes.subarray(at + HEADER_BYTES, end)
  if (crc32(text) !== bytes.readUInt32LE(at + 4)) return null
  return { value: parseJson(text.toString()), end }
}

/** `null` for what is none; no entry is null. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whether what cannot be read is the last edit: nothing that can be read follows. */
function isTorn(bytes: Buffer, at: number): boolean {
  for (let next = at + 1; next + HEADER_BYTES < bytes.length; next++) {
    // Every text is an object: without this look a damaged file could cost a checksum of all of it at each byte.
    if (bytes[next + HEADER_BYTES] === OPENING_BRACE && readEntry(bytes, next) !== null) return false
  }
  return true
}

/** JSON has no infinite numbers: parts with tombstones alone have them. */
function revive(version: Version): Version {
  return {
    ...version,
    parts: version.parts.map(reviveTimes),
    retention: retentionFromJson(version.retention),
  }
}

function reviveEdit(edit: Edit): Edit {
  return {
    ...edit,
    ...(edit.add === undefined ? {} : { add: edit.add.map(reviveTimes) }),
    ...(edit.retention === undefined ? {} : { retention: retentionFromJson(edit.retention) }),
  }
}

function reviveTimes<T extends { readonly firstTime: number; readonly lastTime: number }>(part: T): T {
  return {
    ...part,
    firstTime: part.firstTime ?? Number.POSITIVE_INFINITY,
    lastTime: part.lastTime ?? Number.NEGATIVE_INFINITY,
  }
}

function encodeEntry(value: unknown): Uint8Array {
  const text = Buffer.from(JSON.stringify(value))
  const bytes = Buffer.alloc(HEADER_BYTES + text.length)
  bytes.writeUInt32LE(text.length, 0)
  bytes.writeUInt32LE(crc32(text), 4)
  text.copy(bytes, HEADER_BYTES)
  return bytes
}

/** A manifest with so many bytes of edits is written anew, when its version takes less. */
const MOST_BYTES = 1 << 20

/**
 * Writes the manifest of one owner. When an edit fails nothing is known of it: it counts no more as soon as a new
 * manifest is there, which the next edit begins with. Until then files that it names stay, those that it adds and those
 * that it removes.
 */
export class ManifestWriter {
  readonly #files: Files
  readonly #folder: string
  readonly #token: number
  #number = 0
  /** The first one of this owner that may be in the folder. */
  #firstNumber: number
  #file: FileHandle | null = null
  #bytes = 0
  #firstBytes = 0
  #version: Version

  /**
   * @param version  what the first manifest says; `begin` writes it
   * @param number   of the last manifest of the same token, 0 for none
   */
  constructor(files: Files, folder: string, version: Version, number = 0) {
    this.#files = files
    this.#folder = folder
    this.#token = version.token
    this.#version = version
    this.#number = number
    this.#firstNumber = number + 1
  }

  get version(): Version {
    return this.#version
  }

  get place(): ManifestPlace {
    return { token: this.#token, number: this.#number }
  }

  /** Bytes of the file that count. */
  get bytes(): number {
    return this.#bytes
  }

  /** Writes the first manifest of this owner. Rejects with the system's error. */
  async begin(): Promise<void> {
    await this.#roll(this.#version)
  }

  /** Makes an edit durable and gives the version after it. Rejects with the system's error. One at a time. */
  async edit(edit: Edit): Promise<Version> {
    const next = applyEdit(this.#version, edit)
    const file = this.#file
    if (file === null || this.#bytes > this.#firstBytes + MOST_BYTES) await this.#roll(next)
    else {
      const entry = encodeEntry(edit)
      try {
        await file.write(entry, this.#bytes)
        await file.sync()
      } catch (error) {
        this.#file = null
        file.close()
        throw error
      }
      this.#bytes += entry.length
    }
    this.#version = next
    return next
  }

  /**
   * Names of manifests of this owner that count no more, since a later one is durable; each is given once. Who read
   * them before may be about to look at them again.
   */
  takeReplaced(): readonly string[] {
    // While an edit has failed it is not known which one counts.
    if (this.#file === null) return []
    const names: string[] = []
    for (; this.#firstNumber < this.#number; this.#firstNumber++) {
      names.push(manifestName({ token: this.#token, number: this.#firstNumber }))
    }
    return names
  }

  close(): void {
    this.#file?.close()
    this.#file = null
  }

  /** Writes a version as a whole to a new file. */
  async #roll(version: Version): Promise<void> {
    const number = this.#number + 1
    const path = join(this.#folder, manifestName({ token: this.#token, number }))
    const entry = encodeEntry({ format: MANIFEST_FORMAT, version } satisfies FirstEntry)
    this.#files.remove(path + UNFINISHED)
    const file = this.#files.create(path + UNFINISHED)
    try {
      await file.write(entry, 0)
      await file.sync()
      this.#files.rename(path + UNFINISHED, path)
      // From here on it may count.
      this.#number = number
      this.#files.syncFolder(this.#folder)
    } catch (error) {
      file.close()
      this.#file?.close()
      this.#file = null
      // Each owner has names of its own: of one that tries again for want of room they would fill the folder.
      removeQuietly(this.#files, path + UNFINISHED)
      throw error
    }
    this.#file?.close()
    this.#file = file
    this.#bytes = entry.length
    this.#firstBytes = entry.length
  }
}
