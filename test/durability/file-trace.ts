import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a process did to one file, in order, and the lines that it wrote to its standard error in between. */
export type FileEvent =
  | { readonly kind: 'write'; readonly id: number; readonly offset: number; readonly bytes: Buffer }
  /** A write through a descriptor with O_DSYNC has returned: it is on disk. */
  | { readonly kind: 'written'; readonly id: number }
  /** A sync of the file has returned: all writes up to the one with this id, which had begun before it, are on disk. */
  | { readonly kind: 'synced'; readonly upTo: number }
  | { readonly kind: 'line'; readonly text: string }

const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2']
const SYNCS = ['fdatasync', 'fsync']
/** Other ways to change a file or to have it written: seen, and refused below, so that nothing is overlooked. */
const OTHERS = ['ftruncate', 'fallocate', 'msync', 'sync_file_range', 'copy_file_range', 'sendfile']
const CALLS = [...WRITES, ...SYNCS, ...OTHERS, 'lseek', 'openat']

/** Runs a script under strace and gives what it did to a file. */
export function traceFile(
  strace: string,
  file: string,
  script: string,
  args: readonly string[],
): FileEvent[] {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-trace-'))
  try {
    const log = join(folder, 'calls')
    // Whole buffers in hexadecimal, paths beside descriptors, all threads in one log.
    const options = ['-f', '-y', '-xx', '-s', String(2 ** 28), '-e', `trace=${CALLS.join(',')}`, '-o', log]
    const run = spawnSync(strace, [...options, process.execPath, script, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    if (run.status !== 0)
      throw new Error(`the traced process ended with ${run.status ?? run.signal}: ${run.stderr}`)
    return parseTrace(readFileSync(log, 'latin1'), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A call with its arguments and, when it has returned, its result. */
interface Call {
  readonly name: string
  readonly args: string
  readonly result: number | null
}

export function parseTrace(log: string, file: string): FileEvent[] {
  const events: FileEvent[] = []
  /** By thread: a call that another thread's call came in between of. */
  const unfinished = new Map<string, { readonly call: Call; readonly begun: unknown }>()
  const parser = new Parser(file, events)
  for (const line of log.split('\n')) {
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/s.exec(line)
    if (resumed !== null) {
      const waiting = unfinished.get(resumed[1]!)
      unfinished.delete(resumed[1]!)
      if (waiting !== undefined) {
        parser.end(
          { ...waiting.call, args: waiting.call.args + resumed[2]!, result: resultOf(resumed[2]!) },
          waiting.begun,
        )
      }
      continue
    }
    const found = /^(\d+) +(\w+)\((.*)$/s.exec(line)
    if (found === null) continue
    const [, thread, name, rest] = found as unknown as [string, string, string, string]
    const isWhole = !rest.endsWith('<unfinished ...>')
    const call: Call = { name, args: rest, result: isWhole ? resultOf(rest) : null }
    const begun = parser.begin(call)
    if (isWhole) parser.end(call, begun)
    else unfinished.set(thread, { call, begun })
  }
  return events
}

function resultOf(rest: string): number | null {
  const found = /\) += (-?\d+)[^)]*$/.exec(rest.slice(-400))
  return found === null ? null : Number(found[1])
}

const STANDARD_ERROR = 2

class Parser {
  readonly #file: string
  readonly #events: FileEvent[]
  readonly #durable = new Set<number>()
  readonly #positions = new Map<number, number>()
  #lastId = 0

  constructor(file: string, events: FileEvent[]) {
    this.#file = file
    this.#events = events
  }

  /** What is known when a call begins; gives what `end` needs. */
  begin({ name, args }: Call): unknown {
    if (WRITES.includes(name)) return this.#beginWrite(name, args)
    if (SYNCS.includes(name)) return this.#isOurs(args) ? this.#lastId : null
    if (OTHERS.includes(name) && this.#isOurs(args))
      throw new Error(`unexpected call: ${name}(${args.slice(0, 200)}`)
    return null
  }

  end({ name, args, result }: Call, begun: unknown): void {
    if (name === 'openat') this.#opened(args, result)
    else if (name === 'lseek' && this.#isOurs(args) && result !== null)
      this.#positions.set(descriptorOf(args), result)
    else if (SYNCS.includes(name)) {
      if (typeof begun === 'number' && result === 0) this.#events.push({ kind: 'synced', upTo: begun })
    } else if (typeof begun === 'number' && this.#durable.has(descriptorOf(args))) {
      this.#events.push({ kind: 'written', id: begun })
    }
  }

  #beginWrite(name: string, args: string): number | null {
    const descriptor = descriptorOf(args)
    if (!this.#isOurs(args)) {
      if (descriptor === STANDARD_ERROR) this.#events.push({ kind: 'line', text: textsOf(args).toString() })
      return null
    }
    const bytes = textsOf(args)
    const isPlaced = name.startsWith('pwrite')
    const offset = isPlaced ? placeOf(args) : (this.#positions.get(descriptor) ?? 0)
    if (!isPlaced) this.#positions.set(descriptor, offset + bytes.length)
    this.#events.push({ kind: 'write', id: ++this.#lastId, offset, bytes })
    return this.#lastId
  }

  #opened(args: string, result: number | null): void {
    if (result === null || result < 0) return
    this.#positions.set(result, 0)
    if (args.includes('O_DSYNC') || args.includes('O_SYNC')) this.#durable.add(result)
    else this.#durable.delete(result)
  }

  /** Whether the descriptor that a call begins with is the file's. */
  #isOurs(args: string): boolean {
    const path = /^\d+<([^>]*)>/.exec(args)
    return path !== null && fromHex(path[1]!).toString() === this.#file
  }
}

const descriptorOf = (args: string) => Number.parseInt(args, 10)

const fromHex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex')

/** All that is between quotation marks: the buffer of a write, or those of one of several, in order. */
function textsOf(args: string): Buffer {
  return Buffer.concat(Array.from(args.matchAll(/"([^"]*)"/g), ([, text]) => fromHex(text!)))
}

/** The place that a call writes at: its last argument. */
function placeOf(args: string): number {
  const found = /, (\d+)(?:\) += .*| <unfinished \.\.\.>)$/.exec(args.slice(-200))
  if (found === null) throw new Error(`no place: ${args.slice(-200)}`)
  return Number(found[1])
}
