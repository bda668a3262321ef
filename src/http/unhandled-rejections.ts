import type { Logger } from 'pino'

/** The message of the line; tests look for it in the logs of the services that they start. */
export const UNHANDLED_REJECTION = 'a rejection was not handled: this is a bug, and the service goes on'

/**
 * Keeps the process alive when a promise rejects without a handler, which would end it: other calls have nothing to
 * do with the one that went wrong. Each is logged with its stack, and counted for the metrics. An exception that nobody
 * caught still ends the process, as the code that it went through has not finished what it was doing.
 * @param events the process when left out
 * @returns      how many there were since
 */
export function surviveRejections(
  log: Pick<Logger, 'error'>,
  events: Pick<NodeJS.EventEmitter, 'on'> = process,
): () => number {
  let count = 0
  events.on('unhandledRejection', (reason: unknown) => {
    count++
    log.error({ err: reason }, UNHANDLED_REJECTION)
  })
  return () => count
}
