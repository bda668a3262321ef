import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { systemCode } from '../../errors/system-code.ts'
import { Damage, damageOf, isUnreadable } from '../damage.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { unusable } from '../files/refusals.ts'

/** How the immutable files of a copy come to be there. */
export type CopyMode =
  /** As second names of the same files; they share the disk's fate with the first. */
  'link' | 'copy'

/** A number of files, and their bytes. */
export interface FileCount {
  readonly files: number
  readonly bytes: number
}

/** How the files of a copy came to be there. */
export interface CopyCounts {
  readonly copied: FileCount
  /** Second names of the files that were copied. */
  readonly linked: FileCount
  /** In the folder before, or linked from an earlier copy: names are never used again. */
  readonly reused: FileCount
  /** Files of an earlier copy that were not what they should be; they were copied anew. */
  readonly differing: FileCount
}

type Way = 'copied' | 'linked' | 'reused'

const STEP = 1 << 20

/** Puts the files of a historian into a copy, and remembers how each came to be there, over all tries. */
export class CopiedFiles {
  readonly #files: Files
  readonly #mode: CopyMode
  /** By path in the copy. */
  readonly #put = new Map<string, { readonly way: Way; readonly bytes: number }>()
  readonly #differing = new Map<string, number>()

  constructor(files: Files, mode: CopyMode) {
    this.#files = files
    this.#mode = mode
  }

  get counts(): CopyCounts {
    const of = (way: Way) =>
      sum([...this.#put.values()].flatMap((one) => (one.way === way ? [one.bytes] : [])))
    return {
      copied: of('copied'),
      linked: of('linked'),
      reused: of('reused'),
      differing: sum([...this.#differing.values()]),
    }
  }

  /**
   * Puts a file that never changes. Of one that is damaged, as it is shorter than it should be, all that is there.
   * @param earlier  folder of an earlier copy in which it may be; `null` for none
   */
  async putFinal(
    name: string,
    bytes: number,
    from: string,
    to: string,
    earlier: string | null,
  ): Promise<void> {
    const [source, target] = [join(from, name), join(to, name)]
    if (this.#put.has(target)) return
    const put = (way: Way) => this.#put.set(target, { way, bytes })
    if (sizeOf(this.#files, target) === bytes) put('reused')
    else if (this.#mode === 'link') {
      this.#link(source, target)
      put('linked')
    } else if (earlier !== null && (await this.#reuse(source, join(earlier, name), target, bytes)))
      put('reused')
    else {
      await copyFile(this.#files, source, target, Math.min(bytes, sizeOf(this.#files, source) ?? bytes))
      put('copied')
    }
  }

  /** Puts the beginning of a file that may grow, in place of what was there. */
  async putBeginning(name: string, bytes: number, from: string, to: string): Promise<void> {
    const target = join(to, name)
    await copyFile(this.#files, join(from, name), target, bytes)
    this.#put.set(target, { way: 'copied', bytes })
  }

  /** Removes what was put in an earlier try and is not wanted any more. */
  keepOnly(wanted: ReadonlySet<string>): void {
    for (const path of this.#put.keys()) {
      if (wanted.has(path)) continue
      this.#files.remove(path)
      this.#put.delete(path)
    }
  }

  #link(source: string, target: string): void {
    this.#files.remove(target)
    try {
      this.#files.link(source, target)
    } catch (error) {
      if (!NOT_LINKED.has(systemCode(error))) throw error
      throw unusable(target, 'files of the data directory cannot be linked there, only copied', error)
    }
  }

  /** Links a file of an earlier copy, where it is one of its own and has the same content. */
  async #reuse(source: string, earlier: string, target: string, bytes: number): Promise<boolean> {
    const files = this.#files
    // What was linked is no second copy of the data, and must not become one.
    if (!files.exists(earlier) || files.isSameFile(source, earlier)) return false
    const isEqual = sizeOf(files, earlier) === bytes && (await hasSameChecksum(files, earlier, source))
    if (!isEqual) {
      this.#differing.set(target, bytes)
      return false
    }
    files.remove(target)
    try {
      files.link(earlier, target)
      return true
    } catch (error) {
      if (NOT_LINKED.has(systemCode(error))) return false
      throw error
    }
  }
}

/** Another file system, or one without such links. */
const NOT_LINKED = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

export function addCounts(a: CopyCounts, b: CopyCounts): CopyCounts {
  const add = (one: FileCount, other: FileCount): FileCount => ({
    files: one.files + other.files,
    bytes: one.bytes + other.bytes,
  })
  return {
    copied: add(a.copied, b.copied),
    linked: add(a.linked, b.linked),
    reused: add(a.reused, b.reused),
    differing: add(a.differing, b.differing),
  }
}

function sum(bytes: readonly number[]): FileCount {
  return { files: bytes.length, bytes: bytes.reduce((total, one) => total + one, 0) }
}

/** Bytes of a file; `null` when it is missing. */
export function sizeOf(files: Files, path: string): number | null {
  if (!files.exists(path)) return null
  const file = files.open(path)
  try {
    return file.size()
  } finally {
    file.close()
  }
}

/** False as well where the disk does not give one of them. */
async function hasSameChecksum(files: Files, one: string, other: string): Promise<boolean> {
  try {
    return (await checksumOf(files, one)) === (await checksumOf(files, other))
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return false
  }
}

/** CRC-32 of a whole file. */
async function checksumOf(files: Files, path: string): Promise<number> {
  const file = files.open(path)
  try {
    const buffer = new Uint8Array(STEP)
    let checksum = 0
    for (let at = 0; ; at += buffer.length) {
      const length = await file.read(buffer, at)
      checksum = crc32(buffer.subarray(0, length), checksum)
      if (length < buffer.length) return checksum
    }
  } finally {
    file.close()
  }
}

/**
 * Copies the beginning of a file, durably, in place of what may be there. Rejects with Damage of the file that is
 * copied, also where the disk does not give it, and with the system's errors.
 */
export async function copyFile(files: Files, from: string, to: string, bytes: number): Promise<void> {
  const source = files.open(from)
  let copy: FileHandle | null = null
  try {
    files.remove(to)
    copy = files.create(to)
    const buffer = new Uint8Array(Math.min(STEP, bytes))
    for (let at = 0; at < bytes; at += STEP) {
      const wanted = buffer.subarray(0, Math.min(STEP, bytes - at))
      const length = await source.read(wanted, at).catch((error: unknown) => {
        throw isUnreadable(error) ? new Damage(`${basename(from)}: ${damageOf(error).message}`, error) : error
      })
      if (length < wanted.length) throw new Damage(`${basename(from)} is shorter than it should be`)
      await copy.write(wanted, at)
    }
    await copy.sync()
  } finally {
    source.close()
    copy?.close()
  }
}
