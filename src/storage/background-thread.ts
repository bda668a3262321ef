import { type ResourceLimits, Worker } from 'node:worker_threads'

/** An error of a thread as a message. */
export interface ThreadFailure {
  readonly kind: 'error'
  readonly message: string
  readonly code: string | null
  readonly syscall: string | null
}

/**
 * Starts a thread that others wait for.
 * @param on.message a message of the thread
 * @param on.exit    called once, with its error where it had one, or one that says that the thread has ended
 */
export function startThread<Message>(
  file: URL,
  resourceLimits: ResourceLimits,
  name: string,
  on: { message(message: Message): void; exit(thread: Worker, reason: unknown): void },
): Worker {
  const thread = new Worker(file, { resourceLimits, execArgv: [] })
  let reason: unknown = new Error(`${name} has ended`)
  thread.on('message', (message: Message) => on.message(message))
  thread.on('error', (error) => {
    reason = error
  })
  thread.on('exit', () => on.exit(thread, reason))
  return thread
}

/** What a thread says of an error. */
export function failureOf(error: unknown): ThreadFailure {
  const { message, code, syscall } = error as { message: string; code?: unknown; syscall?: unknown }
  return {
    kind: 'error',
    message,
    code: typeof code === 'string' ? code : null,
    syscall: typeof syscall === 'string' ? syscall : null,
  }
}

/** The error that a thread has said. */
export function errorOf({ message, code, syscall }: ThreadFailure): Error {
  return Object.assign(new Error(message), code === null ? {} : { code, syscall })
}
