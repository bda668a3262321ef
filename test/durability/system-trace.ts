import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a process asked of the system, in the order in which it happened. */
export type SystemEvent =
  /** A write to a file has begun, with the beginning of what is written. */
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  /** A sync of a file or folder has returned. `began` is the number of events before it began. */
  | { readonly kind: 'synced'; readonly path: string; readonly began: number }
  /** A file was made, or removed. */
  | { readonly kind: 'made' | 'removed'; readonly path: string }
  /** A line on standard error. */
  | { readonly kind: 'line'; readonly text: string }

const WRITES = new Set(['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2'])
const SYNCS = new Set(['fdatasync', 'fsync'])
const REMOVALS = new Set(['unlink', 'unlinkat'])
const CALLS = [...WRITES, ...SYNCS, ...REMOVALS, 'openat']

/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 600_000

/** Runs a script under strace and gives what it did. Throws when it did not end well. */
export function traceScript(strace: string, script: string, args: readonly string[]): SystemEvent[] {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-trace-'))
  try {
    const log = join(folder, 'calls')
    // Paths beside descriptors, all threads in one log.
    const options = ['-f', '-y', '-s', '20000', '-e', `trace=${CALLS.join(',')}`, '-o', log]
    const run = spawnSync(strace, [...options, process.execPath, script, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    if (run.status !== 0) throw new Error(`it ended with ${run.status ?? run.signal}: ${run.stderr}`)
    return parseTrace(readFileSync(log, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function parseTrace(log: string): SystemEvent[] {
  const events: SystemEvent[] = []
  /** By thread: a call during which another thread made one. */
  const unfinished = new Map<
    string,
    { readonly name: string; readonly args: string; readonly began: number }
  >()
  for (const line of log.split('\n')) {
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/.exec(line)
    if (resumed !== null) {
      const call = unfinished.get(resumed[1]!)
      unfinished.delete(resumed[1]!)
      if (call !== undefined) end(events, call.name, call.args + resumed[2]!, call.began)
      continue
    }
    const found = /^(\d+) +(\w+)\((.*)$/.exec(line)
    if (found === null) continue
    const [, thread, name, args] = found as unknown as [string, string, string, string]
    const began = events.length
    begin(events, name, args)
    if (args.endsWith('<unfinished ...>')) unfinished.set(thread, { name, args, began })
    else end(events, name, args, began)
  }
  return events
}

function begin(events: SystemEvent[], name: string, args: string): void {
  if (!WRITES.has(name)) return
  const path = pathOf(args)
  const isLine = args.startsWith('2<')
  const text = isLine || path?.includes('/manifest/') === true ? args : ''
  if (isLine) events.push({ kind: 'line', text: /"(.*?)\\n"/.exec(text)?.[1] ?? '' })
  else if (path !== null) events.push({ kind: 'write', path, text })
}

function end(events: SystemEvent[], name: string, args: string, began: number): void {
  if (/ = -1 /.test(args)) return
  const path = pathOf(args)
  if (SYNCS.has(name) && path !== null) events.push({ kind: 'synced', path, began })
  const named = /"([^"]*)"/.exec(args)?.[1]
  if (named === undefined) return
  if (REMOVALS.has(name)) events.push({ kind: 'removed', path: named })
  if (name === 'openat' && args.includes('O_EXCL')) events.push({ kind: 'made', path: named })
}

/** The path of the descriptor that a call begins with. */
const pathOf = (args: string) => /^\d+<([^>]*)>/.exec(args)?.[1] ?? null
