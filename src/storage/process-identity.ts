import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** What tells a process from every other one, also from a later one with the same number. Null where the system does not tell. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the boot. */
  readonly startTime: string | null
  /** Of the running system; new with each boot. */
  readonly bootId: string | null
  /** Where the number is valid: containers count their processes for themselves. */
  readonly pidNamespace: string | null
  readonly host: string
}

export function identityOf(pid: number): ProcessIdentity {
  return {
    pid,
    startTime: startTimeOf(pid),
    bootId: bootId(),
    pidNamespace: pidNamespace(),
    host: hostname(),
  }
}

/**
 * Whether a process runs; `null` when that cannot be told from here: it is in another container, on another machine, or the
 * system does not tell when a process started, and so not whether a number was given to a new one.
 */
export function isRunning(process_: ProcessIdentity): boolean | null {
  const { pid, startTime } = process_
  if (startTime !== null && process_.bootId !== null && process_.bootId === bootId()) {
    if (process_.pidNamespace !== pidNamespace()) return null
    return startTimeOf(pid) === startTime
  }
  if (startTime === null && process_.host === hostname() && !signalReaches(pid)) return false
  return null
}

/** Null when there is no such process, or nothing left of it but its exit code. */
function startTimeOf(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`)
  if (stat === null) return null
  // The second field is the program's name in brackets and may hold anything: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields[0]
  if (state === 'Z' || state === 'X') return null
  return fields[19] ?? null
}

function bootId(): string | null {
  return readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? null
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not allowed to signal it, but there it is.
    return (error as { code?: unknown }).code === 'EPERM'
  }
}
