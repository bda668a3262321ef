import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '../measure.ts'

/** So long may one request take, at the server where it can be told so, and here. */
export const REQUEST_SECONDS = 30

/** A server's process and its folder, which goes when it is closed. */
export interface ServerUnderTest {
  readonly folder: string
  /**
   * Most memory, anonymous and shared, that it and its children were seen to hold, in megabytes, since the last
   * `forgetMemory`.
   */
  peakMemory(): number
  forgetMemory(): void
  /** Processor time of it and its children so far, user and system, all threads, in milliseconds; in steps of 10. */
  processorMs(): number
  /** Bytes that it and its children had the system write to disk so far. */
  writtenBytes(): number
  close(): Promise<void>
}

/** A folder for a server. */
export function serverFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `tidemark-peer-${name}-`))
}

/** What a server is started with beside its arguments. */
export interface StartOptions {
  /** User and group that it runs as; this process's without. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Ends it at once: nothing of it is needed any more. */
  readonly signal?: NodeJS.Signals
}

/** Starts a server and waits until `isUp` does not reject. */
export async function startServer(
  command: string,
  args: readonly string[],
  folder: string,
  isUp: () => Promise<unknown>,
  { owner, signal = 'SIGINT' }: StartOptions = {},
): Promise<ServerUnderTest> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...owner })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000)
  })
  for (let attempt = 0; ; attempt++) {
    try {
      expect(child.exitCode === null && attempt < 200, `${command} started: ${said}`)
    } catch (error) {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
    try {
      await isUp()
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return watch(child.pid!, folder, () => end(child, signal))
}

/** Looks at a process's memory ten times a second. */
export function watch(pid: number, folder: string, close: () => Promise<void>): ServerUnderTest {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, anonymousMegabytes(pid))
  }
  const timer = setInterval(look, 100)
  return {
    folder,
    peakMemory: () => {
      look()
      return peak
    },
    forgetMemory: () => {
      peak = 0
    },
    processorMs: () => processesOf(pid).reduce((sum, process) => sum + processorMs(process), 0),
    writtenBytes: () => processesOf(pid).reduce((sum, process) => sum + writtenBytes(process), 0),
    close: async () => {
      clearInterval(timer)
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await gone
    clearTimeout(timer)
  }
  // A process that it left behind would keep this one waiting for its last words.
  child.stderr?.destroy()
}

/** Memory of a process and all that it started that is no file's: anonymous of each, and shared once. */
function anonymousMegabytes(pid: number): number {
  let anonymous = 0
  let shared = 0
  for (const process of processesOf(pid)) {
    const status = readOr(`/proc/${process}/status`, '')
    const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
    anonymous += of('RssAnon')
    shared = Math.max(shared, of('RssShmem'))
  }
  return anonymous + shared
}

/** Processor time of one process and of those that it started and that are gone. */
function processorMs(pid: number): number {
  const fields = readOr(`/proc/${pid}/stat`, '').split(') ').at(-1)!.split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
}

function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readOr(`/proc/${pid}/io`, ''))?.[1] ?? 0)
}

/** A process and all that it started and that live. */
function processesOf(pid: number): readonly number[] {
  const found = [pid]
  for (const next of found) {
    const children = readOr(`/proc/${next}/task/${next}/children`, '').trim()
    if (children !== '') found.push(...children.split(' ').map(Number))
  }
  return found
}

/** A process may end at any moment. */
function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

/** Blocks that the files of a folder take: files may have holes. */
export function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => {
      const path = join(entry.parentPath, entry.name)
      return sum + (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512
    }, 0)
}
