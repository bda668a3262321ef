import { EXIT } from './exit.ts'

/** The part of the process that signals come to. */
export interface SignalledProcess {
  on(event: NodeJS.Signals, listener: () => void): unknown
  off(event: NodeJS.Signals, listener: () => void): unknown
  exit(code: number): never
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Signals within this time after the first are the same wish to stop: a launcher hands on what its process group was
 * sent, and a supervisor may send two.
 */
const SAME_WISH_MS = 500

/**
 * The first signal asks a command to end; one that comes later than half a second after it ends the process whatever it
 * does.
 * @param now a clock in milliseconds that only goes forward
 * @returns   to be called when the command has ended. If a signal had asked for that, signals are received and do
 *            nothing from then on: the same wish, handed on late, must not make a failure of a stop that is done
 */
export function listenForSignals(
  process: SignalledProcess,
  interruption: AbortController,
  now: () => number = () => performance.now(),
): () => void {
  let askedAt: number | null = null
  let hasEnded = false
  const listener = () => {
    if (hasEnded) return
    if (askedAt === null) {
      askedAt = now()
      interruption.abort()
    } else if (now() - askedAt > SAME_WISH_MS) process.exit(EXIT.interrupted)
  }
  for (const name of SIGNALS) process.on(name, listener)
  return () => {
    hasEnded = true
    if (askedAt !== null) return
    for (const name of SIGNALS) process.off(name, listener)
  }
}
