import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

import { UNHANDLED_REJECTION } from '../../src/http/unhandled-rejections.ts'
import { COMPILE_CACHE } from '../compile-cache.ts'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
export const BIN = join(PROJECT, 'bin', 'tidemark.js')

/** A process that has not ended by then is killed, which fails its test. */
const PATIENCE_MS = 600_000

const services: ChildProcess[] = []
/** What each service wrote to its log. */
const logs: (() => string)[] = []
const folders: string[] = []

// Of the whole file: a hook made inside of a hook would run right after that one.
after(async () => {
  await Promise.all(services.map(killed))
  for (const stderr of logs) assert.ok(!stderr().includes(UNHANDLED_REJECTION), stderr())
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 20 })
})

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** The Node to run it with; the one of the tests when left out. */
  readonly node?: string
  readonly bin?: string
  /** Whether it gets a process group of its own, as a service manager and a shell give it. */
  readonly ownGroup?: boolean
}

/** Runs a command line to its end. */
export async function tidemark(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const child = start(args, options)
  const collected = collect(child)
  child.stdin!.end(options.input ?? '')
  const code = await ended(child)
  return { code, stdout: collected.stdout(), stderr: collected.stderr() }
}

export interface RunningService {
  readonly pid: number
  readonly url: string
  /** Of the first start; empty afterwards. */
  readonly writeKey: string
  readonly readKey: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the exit code when it has ended. */
  readonly ended: Promise<number | null>
  /** Closes the pipe of its standard output, as `head` does when it has its lines. */
  closeOutput(): void
  /** Asks it to stop and waits for its end. */
  stop(): Promise<number | null>
  /** Ends it as a power cut would: no signal handler runs. */
  kill(): Promise<void>
  /** Posts JSON and reads the answer. */
  post(path: string, body: unknown, key?: string): Promise<{ status: number; body: Record<string, unknown> }>
}

/** Starts a service on a free port and waits until it answers; stopped after the tests at the latest. */
export async function serve(args: readonly string[], options: RunOptions): Promise<RunningService> {
  const keysFile = join(await mkdtemp(join(tmpdir(), 'tidemark-keys-')), 'keys')
  folders.push(dirname(keysFile))
  const env = { TIDEMARK_FIRST_KEYS_FILE: keysFile, ...options.env }
  const child = start(['serve', '--port', '0', ...args], { ...options, env })
  const { stdout, stderr } = collect(child)
  const exit = ended(child)
  services.push(child)
  logs.push(stderr)
  const url = await new Promise<string>((resolve, reject) => {
    // The keys, and the lines to try of a demo, come in one piece with the address.
    child.stdout!.on('data', () => {
      const found = /answers at (\S+)\n[\s\S]*reference .*\n/.exec(stdout())
      if (found !== null) resolve(found[1]!)
    })
    exit.then((code) => reject(new Error(`ended with ${code}: ${stdout()}${stderr()}`)))
  })
  const keys = existsSync(keysFile) ? readFileSync(keysFile, 'utf8') : ''
  const keyOf = (scope: string) => new RegExp(`^${scope} (tdm_\\S+)`, 'm').exec(keys)?.[1] ?? ''
  const writeKey = keyOf('write')
  return {
    pid: child.pid!,
    url,
    writeKey,
    readKey: keyOf('read'),
    stdout,
    stderr,
    ended: exit,
    closeOutput: () => child.stdout!.destroy(),
    stop: async () => {
      child.kill('SIGTERM')
      return await exit
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exit
    },
    post: async (path, body, key = writeKey) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Api-Key': key },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
  }
}

/** A Node of this machine that is older than the one that Tidemark runs on, as a launcher; `null` without one. */
export function findOlderNode(): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  for (const folder of folders) {
    const node = join(folder, 'node')
    if (folder.includes('node_modules') || !existsSync(node)) continue
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    const major = Number(/^v(\d+)\./.exec(stdout)?.[1])
    if (major >= 20 && major < 26) return node
  }
  return null
}

/** A folder that is gone after the tests. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-cli-'))
  folders.push(folder)
  return folder
}

function start(args: readonly string[], { cwd, env, node, bin, ownGroup }: RunOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TIDEMARK_') && name !== 'NODE_TEST_CONTEXT',
  )
  // A Node that a test chose may be one that cannot write files.
  const cached =
    node === undefined ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : { NODE_DISABLE_COMPILE_CACHE: '1' }
  return spawn(node ?? process.execPath, [bin ?? BIN, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), TZ: 'UTC', ...cached, ...env },
    stdio: 'pipe',
    detached: ownGroup === true,
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  })
}

/** Resolves when it has ended: until then it may still make files. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

function collect(child: ChildProcess) {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  return { stdout: () => stdout, stderr: () => stderr }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code))
  })
}
