import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  unlink,
  write,
  writeSync,
} from 'node:fs'
import { open as openAside } from 'node:fs/promises'
import { promisify } from 'node:util'
import { systemCode } from '../../errors/system-code.ts'
import { type FileHandle, type Files, makeFolderDurably } from './files.ts'

/** The files of the system. */
export const systemFiles: Files = {
  open: (path) => new SystemFile(path, 'r'),
  edit: (path) => new SystemFile(path, 'r+'),
  create: (path) => new SystemFile(path, 'wx+'),
  exists: existsSync,
  makeNewFolder: mkdirSync,
  rename: renameSync,
  link: linkSync,
  syncFolder,
  syncFolderAside,

  list(folder) {
    try {
      return readdirSync(folder).sort()
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return []
      throw error
    }
  },

  makeFolder(path) {
    makeFolderDurably(systemFiles, path)
  },

  remove(path) {
    rmSync(path, { force: true })
  },

  async removeAside(path) {
    try {
      await unlinkAsync(path)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
  },

  isFolder(path) {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  },

  isSameFile(one, other) {
    const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
    return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
  },

  removeFolder(path) {
    rmSync(path, { recursive: true, force: true })
  },

  freeBytes(folder) {
    const { blocks, bavail, bsize } = statfsSync(folder)
    // Some that are no disks say that they have no blocks at all.
    return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
  },
}

/**
 * Has the entries of a folder on disk. Throws what the disk reports; nothing where the system has no such thing:
 * Windows does not open folders, some network file systems do not sync them, and one that may not be read was not made
 * just now.
 */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  try {
    const descriptor = openSync(path, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!isNotSynced(error)) throw error
  }
}

async function syncFolderAside(path: string): Promise<void> {
  if (process.platform === 'win32') return
  try {
    const folder = await openAside(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    if (!isNotSynced(error)) throw error
  }
}

function isNotSynced(error: unknown): boolean {
  return NOT_SYNCED.has(systemCode(error))
}

const NOT_SYNCED = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EACCES',
  'EPERM',
  'EBADF',
  'EISDIR',
])

const unlinkAsync = promisify(unlink)
const readAsync = promisify(read)
const writeAsync = promisify(write)
const syncAsync = promisify(fdatasync)

/**
 * File systems whose syncs may say that they are done when they are not: ext4, and overlayfs, which may stand on one.
 * Elsewhere what finds that out is not asked: on a network file system it waits for the server.
 */
const DECEIVING = new Set([0xef53, 0x794c7630])

function mayDeceive(path: string): boolean {
  try {
    return DECEIVING.has(statfsSync(path).type)
  } catch {
    // Another folder stands there, or none.
    return true
  }
}

class SystemFile implements FileHandle {
  readonly path: string
  readonly #descriptor: number
  #identity: Pick<Stats, 'ino' | 'dev'> | null = null
  #mayDeceive: boolean | null = null

  constructor(path: string, flags: string) {
    this.path = path
    this.#descriptor = openSync(path, flags)
  }

  size(): number {
    return fstatSync(this.#descriptor).size
  }

  isAt(path: string): boolean {
    try {
      this.#identity ??= fstatSync(this.#descriptor)
      const found = statSync(path, { throwIfNoEntry: false })
      return found !== undefined && found.ino === this.#identity.ino && found.dev === this.#identity.dev
    } catch {
      return false
    }
  }

  readNow(target: Uint8Array, at: number): number {
    let length = 0
    while (length < target.length) {
      const more = readSync(this.#descriptor, target, length, target.length - length, at + length)
      if (more === 0) break
      length += more
    }
    return length
  }

  async read(target: Uint8Array, at: number): Promise<number> {
    let length = 0
    while (length < target.length) {
      const { bytesRead } = await readAsync(
        this.#descriptor,
        target,
        length,
        target.length - length,
        at + length,
      )
      if (bytesRead === 0) break
      length += bytesRead
    }
    return length
  }

  writeNow(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, at + done)
    }
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await writeAsync(this.#descriptor, bytes, done, bytes.length - done, at + done)
      done += bytesWritten
    }
  }

  syncNow(): void {
    fdatasyncSync(this.#descriptor)
  }

  sync(): Promise<void> {
    return syncAsync(this.#descriptor)
  }

  confirmNow(): void {
    this.#mayDeceive ??= mayDeceive(this.path)
    if (!this.#mayDeceive) return
    // The first call finds the journal without being told of it, and stops the file system; the second one is refused.
    for (let calls = 0; calls < 2; calls++) {
      const now = Date.now() / 1000
      futimesSync(this.#descriptor, now, now)
    }
  }

  truncateNow(bytes: number): void {
    ftruncateSync(this.#descriptor, bytes)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
