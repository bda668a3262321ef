import { issueOf, TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { withDeadline } from '../historian/deadline.ts'
import type { WriteFailures } from './write-failures.ts'

/** A historian that does not say within this time that it is well counts as down. */
const CHECK_SECONDS = 3

/** Open to every client, so the historians themselves are checked at most this often. */
const FRESH_MS = 1_000

/**
 * - `up`: reads and writes are answered;
 * - `degraded`: reads are answered, and changes fail;
 * - `down`: nothing is answered.
 */
export type HealthState = 'up' | 'degraded' | 'down'

export interface Health {
  readonly state: HealthState
  /** Why it is not up, or what somebody should look at although it is; `null` for nothing. */
  readonly reason: string | null
}

/** The last check of each historian; concurrent requests share it. */
export class HealthChecks {
  readonly #failures: WriteFailures
  readonly #checks = new Map<string, { readonly began: number; readonly health: Promise<Health> }>()
  readonly #closing = new AbortController()

  constructor(failures: WriteFailures) {
    this.#failures = failures
  }

  /** Whether the service has ended: what a check says then says nothing of its historian. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Ends the checks under way, which would keep the process alive for an answer that may not come any more. */
  close(): void {
    this.#closing.abort()
  }

  of(historian: Historian): Promise<Health> {
    return this.#fresh(historian.name, () => this.check(historian))
  }

  ofStore(checkStore: () => Promise<void>): Promise<Health> {
    // No historian has an empty name.
    return this.#fresh('', () => check({ name: 'store', checkHealth: checkStore }, this.#closing.signal))
  }

  /** Without a look at what is known. */
  async check(historian: Historian): Promise<Health> {
    const health = await check(historian, this.#closing.signal)
    if (health.state !== 'up' || !historian.capabilities.write) return health
    const failure = this.#failures.of(historian.name)
    return failure === null ? health : { state: 'degraded', reason: failure }
  }

  #fresh(name: string, look: () => Promise<Health>): Promise<Health> {
    const last = this.#checks.get(name)
    if (last !== undefined && performance.now() - last.began < FRESH_MS) return last.health
    const health = look()
    this.#checks.set(name, { began: performance.now(), health })
    return health
  }
}

async function check(
  historian: Pick<Historian, 'name' | 'checkHealth' | 'trouble'>,
  closing: AbortSignal,
): Promise<Health> {
  const deadline = withDeadline(closing, CHECK_SECONDS)
  const { signal } = deadline
  const late = Promise.withResolvers<never>()
  const end = () => {
    const reason = closing.aborted ? 'the service is ending' : `no answer within ${CHECK_SECONDS} seconds`
    late.reject(new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: historian.name, reason }))
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  late.promise.catch(() => {})
  try {
    await Promise.race([historian.checkHealth({ signal }), late.promise])
    const reason = (await Promise.race([historian.trouble?.({ signal }), late.promise])) ?? null
    return { state: 'up', reason }
  } catch (error) {
    const { code, message } = issueOf(error)
    return { state: code === 'WRITE_FAILED' ? 'degraded' : 'down', reason: message }
  } finally {
    deadline.done()
  }
}
