import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './client/free-port.ts'
import { HttpClient } from './client/http-client.ts'
import { expect } from './measure.ts'

const PROGRAM = join(import.meta.dirname, '..', 'bin', 'tidemark.js')

/** A real service in a process of its own, with an empty data directory that goes when it stops. */
export interface Service {
  readonly pid: number
  readonly port: number
  /** Of scope write. */
  readonly key: string
  readonly dataDir: string
  /**
   * Posts JSON. The answer is lent until the next one: its text is to be taken at once. Rejects for a status other than
   * success.
   */
  post(path: string, body: string): Promise<Buffer>
  get(path: string): Promise<Buffer>
  /** Stops it and starts it again on the same data. Resolves with the milliseconds from its start until it answers. */
  restart(): Promise<number>
  stop(): Promise<void>
}

/** @param prepare  fills the data directory beforehand */
export async function startService(
  environment: Readonly<Record<string, string>> = {},
  prepare: (dataDir: string) => Promise<void> = async () => {},
): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const port = await freePort()
  const env = { ...process.env, ...environment, TIDEMARK_DATA_DIR: dataDir, TIDEMARK_LOG_LEVEL: 'warn' }
  const keyText = execFileSync(
    process.execPath,
    [PROGRAM, 'keys', 'create', '--name', 'bench', '--scope', 'write', '--json'],
    { env, encoding: 'utf8' },
  )
  const { key } = JSON.parse(keyText)
  // A folder with a historian and no keys is taken for one that lost them.
  await prepare(dataDir)
  const start = () =>
    spawn(process.execPath, ['--max-semi-space-size=8', PROGRAM, 'serve', '--port', String(port)], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  let child = start()
  const end = async () => {
    client.interrupt()
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }
  const client = new HttpClient(port, { 'content-type': 'application/json', 'x-api-key': key })
  const post = (path: string, body: string) => client.send(client.request('POST', path, body))
  try {
    await untilLive(client, child)
  } catch (error) {
    child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
    throw error
  }
  return {
    get pid() {
      return child.pid!
    },
    port,
    key,
    dataDir,
    post,
    get: (path) => client.send(client.request('GET', path, null)),
    restart: async () => {
      await end()
      const began = performance.now()
      child = start()
      await untilLive(client, child)
      return performance.now() - began
    },
    stop: async () => {
      await end()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The bare server of bench/http/bare-server.ts, for what HTTP and JSON.stringify alone cost. */
export async function startBareServer(): Promise<Pick<Service, 'post' | 'stop'>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'http', 'bare-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<number>((resolve) => {
    child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())))
  })
  const client = new HttpClient(port, { 'content-type': 'application/json' })
  return {
    post: (path, body) => client.send(client.request('POST', path, body)),
    stop: async () => {
      client.interrupt()
      child.kill()
    },
  }
}

/** The bare server of bench/ceiling/ceiling-server.ts, for what parsing and committing points alone cost. */
export async function startCeiling(): Promise<Pick<Service, 'pid' | 'port' | 'key' | 'stop'>> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'ceiling', 'ceiling-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const port = await new Promise<number>((resolve) => {
    child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())))
  })
  return {
    pid: child.pid!,
    port,
    key: '',
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      await gone
    },
  }
}

/** Anonymous memory of a process now, and what it has mapped of files, in megabytes; NaN where there is no /proc. */
export function memoryOf(pid: number): { readonly anonymous: number; readonly files: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]) / 1024
    return { anonymous: of('RssAnon'), files: of('RssFile') }
  } catch {
    return { anonymous: Number.NaN, files: Number.NaN }
  }
}

/** Ids of the worker processes of a service; none where there is no /proc. */
export function workersOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return children === '' ? [] : children.split(' ').map(Number)
  } catch {
    return []
  }
}

/** Processor time of a process so far, user and system, all threads; NaN where there is no /proc. */
export function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return Number.NaN
  }
}

async function untilLive(client: HttpClient, child: ChildProcess): Promise<void> {
  const request = client.request('GET', '/health/live', null)
  for (let attempt = 0; attempt < 1_200; attempt++) {
    expect(child.exitCode === null, 'the service started')
    const isLive = await client.send(request).then(
      () => true,
      () => false,
    )
    if (isLive) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(false, 'the service answered within a minute')
}
