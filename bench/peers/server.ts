import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '../measure.ts'

/** A server's process and its folder, which goes when it is closed. */
export interface ServerUnderTest {
  readonly folder: string
  /** Most memory, anonymous and shared, that it and its children were seen to hold, in megabytes, since the last `forgetMemory`. */
  peakMemory(): number
  forgetMemory(): void
  close(): Promise<void>
}

/** A folder for a server, owned by `owner` when given (user and group id). */
export function serverFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `tidemark-peer-${name}-`))
}

/** Starts a server and waits until `isUp` does not reject. */
export async function startServer(
  command: string,
  args: readonly string[],
  folder: string,
  isUp: () => Promise<unknown>,
): Promise<ServerUnderTest> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000)
  })
  for (let attempt = 0; ; attempt++) {
    expect(child.exitCode === null && attempt < 200, `${command} started: ${said}`)
    try {
      await isUp()
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return watch(child.pid!, folder, () => end(child))
}

/** Looks at a process's memory every 50 ms. */
export function watch(pid: number, folder: string, close: () => Promise<void>): ServerUnderTest {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, anonymousMegabytes(pid))
  }
  const timer = setInterval(look, 50)
  return {
    folder,
    peakMemory: () => {
      look()
      return peak
    },
    forgetMemory: () => {
      peak = 0
    },
    close: async () => {
      clearInterval(timer)
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await gone
  clearTimeout(timer)
}

/** Memory of a process and all that it started that is no file's: anonymous of each, and shared once. */
function anonymousMegabytes(pid: number): number {
  let anonymous = 0
  let shared = 0
  const waiting = [pid]
  for (const next of waiting) {
    try {
      const status = readFileSync(`/proc/${next}/status`, 'utf8')
      const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
      anonymous += of('RssAnon')
      shared = Math.max(shared, of('RssShmem'))
      const children = readFileSync(`/proc/${next}/task/${next}/children`, 'utf8').trim()
      if (children !== '') waiting.push(...children.split(' ').map(Number))
    } catch {
      // It ended meanwhile.
    }
  }
  return anonymous + shared
}

export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** HTTP on kept-alive connections to a port of this machine; a status of 300 or more rejects. */
export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  send(
    method: string,
    path: string,
    body: Buffer | string | null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) }
      const options = { host: '127.0.0.1', port: this.#port, path, method, agent: this.#agent }
      const sent = request({ ...options, headers: { ...length, ...headers } }, (answer: IncomingMessage) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks)
          if (answer.statusCode! < 300) resolve(bytes)
          else
            reject(
              new Error(
                `${method} ${path.slice(0, 100)}: ${answer.statusCode} ${bytes.toString().slice(0, 300)}`,
              ),
            )
        })
      })
      sent.on('error', reject)
      sent.end(body ?? undefined)
    })
  }

  async json<T>(method: string, path: string, body: string | null, headers = {}): Promise<T> {
    return JSON.parse((await this.send(method, path, body, headers)).toString()) as T
  }

  close(): void {
    this.#agent.destroy()
  }
}
