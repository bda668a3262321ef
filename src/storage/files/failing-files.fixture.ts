import type { FileHandle, Files } from './files.ts'

/** What the layer is asked to do, one of these for each call that changes or reads something. */
export type FileCall =
  | 'open'
  | 'create'
  | 'list'
  | 'makeFolder'
  | 'rename'
  | 'remove'
  | 'link'
  | 'syncFolder'
  | 'read'
  | 'write'
  | 'sync'
  | 'confirm'
  | 'truncate'

/**
 * What becomes of a call: `null` lets it through, a code fails it, `short` writes the first half and then fails with
 * the code.
 */
export type Fault = null | { readonly code: string; readonly short?: boolean }

/**
 * Asked before each call.
 * @param number  of the call, from 0, over all kinds
 * @param from, to  of a read or a write: the bytes of the file
 */
export type FaultPlan = (call: FileCall, path: string, number: number, from: number, to: number) => Fault

/** The bytes [from, to) of a file whose path ends so are not given by the disk. */
export function badSector(end: string, from: number, to = Number.POSITIVE_INFINITY): FaultPlan {
  return (call, path, _number, first, last) =>
    call === 'read' && path.endsWith(end) && first < to && last > from ? { code: 'EIO' } : null
}

/** A file layer over another one that fails where a plan says so. */
export class FailingFiles implements Files {
  readonly #inner: Files
  plan: FaultPlan
  /** Calls so far. */
  calls = 0
  /** Called before each look at what is there, which is no call and does not fail. */
  look: (path: string) => void = () => {}

  constructor(inner: Files, plan: FaultPlan = () => null) {
    this.#inner = inner
    this.plan = plan
  }

  open(path: string): FileHandle {
    this.meet('open', path)
    return new FailingFile(this, this.#inner.open(path))
  }

  edit(path: string): FileHandle {
    this.meet('open', path)
    return new FailingFile(this, this.#inner.edit(path))
  }

  create(path: string): FileHandle {
    this.meet('create', path)
    return new FailingFile(this, this.#inner.create(path))
  }

  list(folder: string): readonly string[] {
    this.meet('list', folder)
    return this.#inner.list(folder)
  }

  exists(path: string): boolean {
    this.look(path)
    return this.#inner.exists(path)
  }

  isFolder(path: string): boolean {
    this.look(path)
    return this.#inner.isFolder(path)
  }

  removeFolder(path: string): void {
    this.meet('remove', path)
    this.#inner.removeFolder(path)
  }

  makeFolder(path: string): void {
    this.meet('makeFolder', path)
    this.#inner.makeFolder(path)
  }

  makeNewFolder(path: string): void {
    this.meet('makeFolder', path)
    this.#inner.makeNewFolder(path)
  }

  rename(from: string, to: string): void {
    this.meet('rename', from)
    this.#inner.rename(from, to)
  }

  remove(path: string): void {
    this.meet('remove', path)
    this.#inner.remove(path)
  }

  async removeAside(path: string): Promise<void> {
    this.meet('remove', path)
    return this.#inner.removeAside(path)
  }

  link(from: string, to: string): void {
    this.meet('link', from)
    this.#inner.link(from, to)
  }

  isSameFile(one: string, other: string): boolean {
    this.look(one)
    return this.#inner.isSameFile(one, other)
  }

  syncFolder(path: string): void {
    this.meet('syncFolder', path)
    this.#inner.syncFolder(path)
  }

  async syncFolderAside(path: string): Promise<void> {
    this.meet('syncFolder', path)
    return this.#inner.syncFolderAside(path)
  }

  freeBytes(folder: string): number {
    this.look(folder)
    return this.#inner.freeBytes(folder)
  }

  /** Throws when the plan has a fault for a call. */
  meet(call: FileCall, path: string, from = 0, bytes = 0): void {
    const fault = this.next(call, path, from, bytes)
    if (fault !== null) throw errorOf(fault.code, call)
  }

  next(call: FileCall, path: string, from = 0, bytes = 0): Fault {
    return this.plan(call, path, this.calls++, from, from + bytes)
  }
}

class FailingFile implements FileHandle {
  readonly path: string
  readonly #files: FailingFiles
  readonly #inner: FileHandle

  constructor(files: FailingFiles, inner: FileHandle) {
    this.#files = files
    this.#inner = inner
    this.path = inner.path
  }

  size(): number {
    this.#files.look(this.path)
    return this.#inner.size()
  }

  isAt(path: string): boolean {
    this.#files.look(path)
    return this.#inner.isAt(path)
  }

  readNow(target: Uint8Array, at: number): number {
    this.#files.meet('read', this.path, at, target.length)
    return this.#inner.readNow(target, at)
  }

  async read(target: Uint8Array, at: number): Promise<number> {
    this.#files.meet('read', this.path, at, target.length)
    return this.#inner.read(target, at)
  }

  writeNow(bytes: Uint8Array, at: number): void {
    const fault = this.#files.next('write', this.path, at, bytes.length)
    if (fault === null) {
      this.#inner.writeNow(bytes, at)
      return
    }
    if (fault.short === true) this.#inner.writeNow(bytes.subarray(0, bytes.length >> 1), at)
    throw errorOf(fault.code, 'write')
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    const fault = this.#files.next('write', this.path, at, bytes.length)
    if (fault === null) return this.#inner.write(bytes, at)
    if (fault.short === true) await this.#inner.write(bytes.subarray(0, bytes.length >> 1), at)
    throw errorOf(fault.code, 'write')
  }

  syncNow(): void {
    this.#files.meet('sync', this.path)
    this.#inner.syncNow()
  }

  async sync(): Promise<void> {
    this.#files.meet('sync', this.path)
    return this.#inner.sync()
  }

  confirmNow(): void {
    this.#files.meet('confirm', this.path)
    this.#inner.confirmNow()
  }

  truncateNow(bytes: number): void {
    this.#files.meet('truncate', this.path)
    this.#inner.truncateNow(bytes)
  }

  close(): void {
    this.#inner.close()
  }
}

function errorOf(code: string, call: FileCall): Error {
  return Object.assign(new Error(`${code}: ${call}`), { code, syscall: call })
}
