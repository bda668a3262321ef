import { type ResourceLimits, Worker } from 'node:worker_threads'
import { systemCode } from '../errors/system-code.ts'

/** A thread that others waited for has ended by itself; `cause` is its error where it had one. */
export class ThreadEnded extends Error {
  readonly code = 'THREAD_ENDED'

  /** @param name  of the thread, as the subject of a sentence */
  constructor(name: string, cause: unknown) {
    super(`${name} has ended`, { cause })
    this.name = 'ThreadEnded'
  }
}

/** An error of a thread as a message. */
export interface ThreadFailure {
  readonly kind: 'error'
  readonly message: string
  readonly code: string | null
  readonly syscall: string | null
}

/**
 * Starts a thread that others wait for. Throws ThreadEnded when the system has no room for one.
 * @param on.message a message of the thread
 * @param on.exit    called once, when nothing of it runs any more
 */
export function startThread<Message>(
  file: URL,
  resourceLimits: ResourceLimits,
  name: string,
  on: { message(message: Message): void; exit(thread: Worker, reason: ThreadEnded): void },
): Worker {
  const thread = made(file, resourceLimits, name)
  let cause: unknown
  thread.on('message', (message: Message) => on.message(message))
  thread.on('error', (error) => {
    cause = error
  })
  thread.on('exit', () => on.exit(thread, new ThreadEnded(name, cause)))
  return thread
}

function made(file: URL, resourceLimits: ResourceLimits, name: string): Worker {
  try {
    return new Worker(file, { resourceLimits, execArgv: [] })
  } catch (error) {
    throw new ThreadEnded(name, error)
  }
}

/** What a thread says of an error. */
export function failureOf(error: unknown): ThreadFailure {
  const { message, syscall } = error as { message: string; syscall?: unknown }
  return {
    kind: 'error',
    message,
    code: systemCode(error) || null,
    syscall: typeof syscall === 'string' ? syscall : null,
  }
}

/** The error that a thread has said. */
export function errorOf({ message, code, syscall }: ThreadFailure): Error {
  return Object.assign(new Error(message), code === null ? {} : { code, syscall })
}
