import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import {
  accessSync,
  chownSync,
  constants,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import { after } from 'node:test'

/*
 * Servers that tests of connected historians run against. They are installed by whoever wants those tests; where one is
 * missing its tests are skipped with the reason, and fail when TIDEMARK_SERVERS=required.
 */

/** A server's program, or why its tests are skipped. */
export type FoundServer =
  | { readonly path: string; readonly skip: false }
  | { readonly path: null; readonly skip: string }

/**
 * Looks for a server's program.
 * @param name     of the server, for the message
 * @param binaries names to look for on PATH, or absolute paths that may hold `*`; the first that can be run is taken
 * @throws when it is missing and TIDEMARK_SERVERS=required
 */
export function findServer(name: string, ...binaries: readonly string[]): FoundServer {
  for (const binary of binaries) {
    const candidates = isAbsolute(binary)
      ? globSync(binary).sort().reverse()
      : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, binary))
    const path = candidates.find(isProgram)
    if (path !== undefined) return { path, skip: false }
  }
  const skip = `${name} is not installed (${binaries.join(' or ')} was looked for)`
  if (process.env.TIDEMARK_SERVERS === 'required') throw new Error(`${skip}, and TIDEMARK_SERVERS=required`)
  return { path: null, skip }
}

/**
 * Below those that systems give out by themselves, where another program could be given one before a server takes it.
 */
const PORTS = { from: 12_000, to: 32_000 }
const givenPorts = new Set<number>()

/** A port that nothing listens at, on the loopback address given, and that was not given out before. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (givenPorts.has(port)) continue
    givenPorts.add(port)
    if (await isFree(port, host)) return port
  }
}

function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}

/** Owner of a process and its folder: servers that refuse to run as root are given another one. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** A folder that is gone after the tests. */
export function serverFolder(name: string, owner?: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), `tidemark-${name}-`))
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  folders.push(folder)
  return folder
}

export interface ServerProcess {
  readonly pid: number
  /** What it wrote on both outputs, the last 100,000 characters. */
  output(): string
  /** Asks it to end and waits; after a minute, or so many seconds, it is killed. */
  stop(signal?: NodeJS.Signals, seconds?: number): Promise<void>
  /** Ends it as a power cut would, and waits. */
  kill(): Promise<void>
  /** Stops it where it stands without ending it, and lets it go on: a server that does not answer. */
  freeze(): void
  thaw(): void
}

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Beside the variables of the tests. */
  readonly env?: Readonly<Record<string, string>>
  readonly owner?: Owner
  /** Resolves to true once the server answers; a rejection counts as not yet. Asked every 50 ms. */
  readonly probe: () => Promise<boolean>
  /** 180 when left out. */
  readonly seconds?: number
}

/** Starts a server and waits until its probe answers. It is killed when the test file ends, at the latest. */
export async function startServer(options: ServerCommand): Promise<ServerProcess> {
  const { command, args, cwd, env, owner, probe, seconds = 180 } = options
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...owner,
  })
  children.add(child)
  let written = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written = (written + text).slice(-100_000)
    })
  }
  let failure: Error | null = null
  const ended = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      failure = error
      resolve()
    })
    child.on('exit', () => resolve())
  })
  ended.then(() => children.delete(child))
  const isRunning = () => failure === null && child.exitCode === null && child.signalCode === null
  const kill = async () => {
    if (isRunning()) child.kill('SIGKILL')
    await ended
  }

  const due = performance.now() + seconds * 1_000
  while (!(await probe().catch(() => false))) {
    const reason = isRunning() ? `does not answer after ${seconds} s` : `ended (${failure ?? child.exitCode})`
    if (!isRunning() || performance.now() > due) {
      await kill()
      throw new Error(`${command} ${reason}:\n${written.slice(-5_000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    pid: child.pid!,
    output: () => written,
    stop: async (signal = 'SIGTERM', seconds = 60) => {
      if (isRunning()) child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1_000)
      await ended
      clearTimeout(timer)
    },
    kill,
    freeze: () => {
      child.kill('SIGSTOP')
      // On a busy machine its threads run on for a moment, and answer.
      for (let tries = 0; tries < 1_000 && !standsStill(child.pid!); tries++) Atomics.wait(PAUSE, 0, 0, 1)
    },
    thaw: () => void child.kill('SIGCONT'),
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4))

/** Whether all threads of a process are stopped; true where the system does not tell. */
function standsStill(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.every((thread) =>
      /^State:\s+[Tt]/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')),
    )
  } catch {
    return true
  }
}

const children = new Set<ChildProcess>()
const folders: string[] = []

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Ends all servers and removes all folders; for a benchmark, since tests do it by themselves. */
export function endAll(): void {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
}

// The hook of a test file runs after its tests; the other is for a benchmark, or a file that ends in another way.
if (process.env.NODE_TEST_CONTEXT !== undefined || process.argv[1]?.endsWith('.test.ts')) after(endAll)
process.on('exit', endAll)
