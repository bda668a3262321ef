import { dirname, resolve } from 'node:path'
import { type FileHandle, type Files, makeFolderDurably } from '../../src/storage/files/files.ts'

/*
 * A disk in memory that knows what is durable and what is not. At a power cut every write that was not synced, and
 * every entry of a folder that was not, is there, is not, or is there in part, in any combination that a file system
 * may leave.
 */

type Random = (below: number) => number

/** Something that was written to a file and is not durable. */
type Pending =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number }

class Inode {
  now = new Uint8Array(0)
  durable = new Uint8Array(0)
  pending: Pending[] = []

  write(bytes: Uint8Array, at: number): void {
    const copy = bytes.slice()
    this.now = written(this.now, copy, at)
    this.pending.push({ kind: 'write', at, bytes: copy })
  }

  truncate(size: number): void {
    this.now = this.now.slice(0, size)
    this.pending.push({ kind: 'truncate', size })
  }

  sync(): void {
    this.durable = this.now
    this.pending = []
  }
}

function written(content: Uint8Array, bytes: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(Math.max(content.length, at + bytes.length))
  next.set(content)
  next.set(bytes, at)
  return next
}

/** Files and folders by their paths. */
class Entries {
  readonly files: Map<string, Inode>
  readonly folders: Set<string>

  constructor(files: Iterable<readonly [string, Inode]> = [], folders: Iterable<string> = ['/']) {
    this.files = new Map(files)
    this.folders = new Set(folders)
  }

  /** Without what stands in folders that are not there. */
  reachable(): Entries {
    const folders = [...this.folders].filter((folder) => this.#isReachable(folder))
    return new Entries(
      [...this.files].filter(([path]) => this.#isReachable(dirname(resolve(path)))),
      folders,
    )
  }

  #isReachable(folder: string): boolean {
    return this.folders.has(folder) && (folder === '/' || this.#isReachable(dirname(folder)))
  }
}

/** A change of the entries of a folder that is not durable. */
interface PendingEntry {
  readonly folder: string
  apply(entries: Entries): void
}

const SECTOR = 512

export class PowerCut extends Error {}

export class SimulatedDisk implements Files {
  #now = new Entries()
  #durable = new Entries()
  #pending: PendingEntry[] = []
  /** Calls that change something, so far. */
  calls = 0
  /** The power is cut in place of this call. */
  cutAt = Number.POSITIVE_INFINITY
  /** Bytes that all files may have together. */
  capacity = Number.POSITIVE_INFINITY
  /**
   * What a write is refused with that finds no room. Of what a quota or a limit leaves the file system says nothing: it
   * has free bytes all the same.
   */
  refusal: 'ENOSPC' | 'EDQUOT' | 'EFBIG' = 'ENOSPC'

  open(path: string): FileHandle {
    return new SimulatedFile(this, path, this.#inode(path))
  }

  edit(path: string): FileHandle {
    return this.open(path)
  }

  create(path: string): FileHandle {
    this.met()
    if (!this.isFolder(dirname(resolve(path)))) throw errorOf('ENOENT', path)
    if (this.exists(path)) throw errorOf('EEXIST', path)
    const inode = new Inode()
    this.#change(path, ({ files }) => files.set(path, inode))
    return new SimulatedFile(this, path, inode)
  }

  list(folder: string): readonly string[] {
    const start = `${resolve(folder)}/`
    return [...this.#now.files.keys()]
      .filter((path) => path.startsWith(start) && !path.slice(start.length).includes('/'))
      .map((path) => path.slice(start.length))
      .sort()
  }

  exists(path: string): boolean {
    return this.#now.files.has(path) || this.isFolder(path)
  }

  isFolder(path: string): boolean {
    return this.#now.folders.has(resolve(path))
  }

  removeFolder(path: string): void {
    const start = `${resolve(path)}/`
    for (const file of this.#now.files.keys()) if (file.startsWith(start)) this.remove(file)
    for (const folder of this.#now.folders) {
      if (`${folder}/`.startsWith(start)) this.#change(folder, ({ folders }) => folders.delete(folder))
    }
  }

  makeNewFolder(path: string): void {
    this.met()
    const folder = resolve(path)
    if (!this.isFolder(dirname(folder))) throw errorOf('ENOENT', path)
    if (this.exists(folder)) throw errorOf('EEXIST', path)
    this.#change(folder, ({ folders }) => folders.add(folder))
  }

  makeFolder(path: string): void {
    makeFolderDurably(this, path)
  }

  rename(from: string, to: string): void {
    this.met()
    const inode = this.#inode(from)
    this.#change(to, ({ files }) => {
      files.delete(from)
      files.set(to, inode)
    })
  }

  remove(path: string): void {
    this.met()
    this.#change(path, ({ files }) => files.delete(path))
  }

  async removeAside(path: string): Promise<void> {
    this.remove(path)
  }

  link(from: string, to: string): void {
    this.met()
    const inode = this.#inode(from)
    this.#change(to, ({ files }) => files.set(to, inode))
  }

  isSameFile(one: string, other: string): boolean {
    const inode = this.#now.files.get(one)
    return inode !== undefined && inode === this.#now.files.get(other)
  }

  syncFolder(path: string): void {
    this.met()
    const folder = resolve(path)
    for (const change of this.#pending) if (change.folder === folder) change.apply(this.#durable)
    this.#pending = this.#pending.filter((change) => change.folder !== folder)
  }

  async syncFolderAside(path: string): Promise<void> {
    this.syncFolder(path)
  }

  freeBytes(): number {
    const left = this.refusal === 'ENOSPC' ? this.capacity - this.#used() : Number.POSITIVE_INFINITY
    return Math.min(2 ** 40, left)
  }

  /** Whether there is room for so many bytes more. */
  hasRoom(bytes: number): boolean {
    return this.capacity === Number.POSITIVE_INFINITY || this.#used() + bytes <= this.capacity
  }

  #used(): number {
    let used = 0
    for (const { now } of new Set(this.#now.files.values())) used += now.length
    return used
  }

  /** To be called before each call that changes something. */
  met(): void {
    if (this.calls++ >= this.cutAt) throw new PowerCut('the power is cut')
  }

  /** The contents of all files by their paths. */
  contents(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#now.files].map(([path, { now }]) => [path, now]))
  }

  /** A disk with the same files, durable, but for some whose content is another; `null` for one that is gone. */
  copy(changed: ReadonlyMap<string, Uint8Array | null> = new Map()): SimulatedDisk {
    const next = new SimulatedDisk()
    next.#now = new Entries([], this.#now.folders)
    for (const [path, { now }] of this.#now.files) {
      const content = changed.get(path)
      if (content === null) continue
      const inode = new Inode()
      inode.now = (content ?? now).slice()
      inode.durable = inode.now
      next.#now.files.set(path, inode)
    }
    next.#durable = new Entries(next.#now.files, next.#now.folders)
    return next
  }

  /** What is there when the power is back. */
  afterCut(random: Random): SimulatedDisk {
    const next = new SimulatedDisk()
    const left = new Entries(this.#durable.files, this.#durable.folders)
    for (const change of this.#pending) if (random(2) === 0) change.apply(left)
    const { files, folders } = left.reachable()
    next.#now = new Entries([], folders)
    const copies = new Map<Inode, Inode>()
    for (const [path, inode] of files) {
      let copy = copies.get(inode)
      if (copy === undefined) {
        copy = new Inode()
        copy.durable = leftOf(inode, random)
        copy.now = copy.durable
        copies.set(inode, copy)
      }
      next.#now.files.set(path, copy)
    }
    next.#durable = new Entries(next.#now.files, folders)
    return next
  }

  isInode(path: string, inode: Inode): boolean {
    return this.#now.files.get(path) === inode
  }

  #inode(path: string): Inode {
    const inode = this.#now.files.get(path)
    if (inode === undefined) throw errorOf('ENOENT', path)
    return inode
  }

  #change(path: string, apply: (entries: Entries) => void): void {
    apply(this.#now)
    this.#pending.push({ folder: dirname(resolve(path)), apply })
  }
}

/** The content of a file when the power is back. */
function leftOf({ durable, pending }: Inode, random: Random): Uint8Array<ArrayBuffer> {
  let content = durable
  for (const change of pending) {
    const fate = random(4)
    if (fate === 0) continue
    if (change.kind === 'truncate') content = content.slice(0, change.size)
    else if (fate === 1) {
      // The length is there, and some of the sectors.
      content = written(content, new Uint8Array(0), change.at + change.bytes.length)
      for (let at = 0; at < change.bytes.length; at += SECTOR) {
        if (random(2) === 0)
          content = written(content, change.bytes.subarray(at, at + SECTOR), change.at + at)
      }
    } else if (fate === 2) {
      content = written(content, change.bytes.subarray(0, random(change.bytes.length + 1)), change.at)
    } else content = written(content, change.bytes, change.at)
  }
  return content
}

class SimulatedFile implements FileHandle {
  readonly path: string
  readonly #disk: SimulatedDisk
  readonly #inode: Inode

  constructor(disk: SimulatedDisk, path: string, inode: Inode) {
    this.path = path
    this.#disk = disk
    this.#inode = inode
  }

  size(): number {
    return this.#inode.now.length
  }

  isAt(path: string): boolean {
    return this.#disk.isInode(path, this.#inode)
  }

  readNow(target: Uint8Array, at: number): number {
    const found = this.#inode.now.subarray(at, at + target.length)
    target.set(found)
    return found.length
  }

  async read(target: Uint8Array, at: number): Promise<number> {
    return this.readNow(target, at)
  }

  writeNow(bytes: Uint8Array, at: number): void {
    this.#disk.met()
    const grows = (length: number) => Math.max(0, at + length - this.#inode.now.length)
    if (!this.#disk.hasRoom(grows(bytes.length))) {
      // As much as there is room for, as file systems do.
      const left = Math.floor(bytes.length / 2)
      if (this.#disk.hasRoom(grows(left))) this.#inode.write(bytes.subarray(0, left), at)
      throw errorOf(this.#disk.refusal, 'write')
    }
    this.#inode.write(bytes, at)
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    this.writeNow(bytes, at)
  }

  syncNow(): void {
    this.#disk.met()
    this.#inode.sync()
  }

  async sync(): Promise<void> {
    this.syncNow()
  }

  confirmNow(): void {
    this.#disk.met()
  }

  truncateNow(bytes: number): void {
    this.#disk.met()
    this.#inode.truncate(bytes)
  }

  close(): void {}
}

function errorOf(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'simulated' })
}
