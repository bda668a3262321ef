import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const BIN = join(PROJECT, 'bin', 'tidemark.js')

const services: ChildProcess[] = []
const folders: string[] = []

// Of the whole file: a hook made inside of a hook would run right after that one.
after(async () => {
  await Promise.all(services.map(killed))
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
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
  /** Asks it to stop and waits for its end. */
  stop(): Promise<number | null>
  /** Ends it as a power cut would: no signal handler runs. */
  kill(): Promise<void>
  /** Posts JSON and reads the answer. */
  post(path: string, body: unknown, key?: string): Promise<{ status: number; body: Record<string, unknown> }>
}

/** Starts a service on a free port and waits until it answers; stopped after the tests at the latest. */
export async function serve(args: readonly string[], options: RunOptions): Promise<RunningService> {
  const child = start(['serve', '--port', '0', ...args], options)
  const { stdout, stderr } = collect(child)
  const exit = ended(child)
  services.push(child)
  const url = await new Promise<string>((resolve, reject) => {
    // The keys, and the lines to try of a demo, come in one piece with the address.
    child.stdout!.on('data', () => {
      const found = /answers at (\S+)\n[\s\S]*reference .*\n/.exec(stdout())
      if (found !== null) resolve(found[1]!)
    })
    exit.then((code) => reject(new Error(`ended with ${code}: ${stdout()}${stderr()}`)))
  })
  const keyOf = (scope: string) => new RegExp(`^ {2}${scope} +(tdm_\\S+)`, 'm').exec(stdout())?.[1] ?? ''
  const writeKey = keyOf('write')
  return {
    pid: child.pid!,
    url,
    writeKey,
    readKey: keyOf('read'),
    stdout,
    stderr,
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

/** A folder that is gone after the tests. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-cli-'))
  folders.push(folder)
  return folder
}

function start(args: readonly string[], { cwd, env, node, bin }: RunOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TIDEMARK_') && name !== 'NODE_TEST_CONTEXT',
  )
  return spawn(node ?? process.execPath, [bin ?? BIN, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), TZ: 'UTC', ...env },
    stdio: 'pipe',
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
