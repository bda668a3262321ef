import type { CallContext, TagMetadata, TagPage, TagQuery } from '../../historian/contract.ts'
import type { ManagedChanges } from './managed/changes.ts'
import type { Places } from './places.ts'
import type { Session } from './session.ts'

/** How points and tags lie in tables: Tidemark's own, or some that are there already. */
export interface Layout {
  /**
   * Where tags are, once the tables were looked at, which the first call does. Rejects with HISTORIAN_UNAVAILABLE when
   * they are not as they have to be; the next call looks again.
   */
  ready(context: CallContext): Promise<Places>
  /** Rejects when the tables cannot be read now. */
  check(context: CallContext): Promise<void>
  /** What somebody should look at although the tables can be read; `null` for nothing. */
  trouble(context: CallContext): Promise<string | null>
  /** Metadata of each named tag, `null` for one that does not exist. */
  findTags(session: Session, names: readonly string[]): Promise<readonly (TagMetadata | null)[]>
  searchTags(session: Session, query: TagQuery): Promise<TagPage>
  /** `null` where the tables are only read. */
  readonly changes: ManagedChanges | null
}

/**
 * Looks once and remembers what was found. A look that failed is not remembered; calls at the same time share one,
 * which ends for none of them because another one's caller has gone away.
 */
export class Once<Found> {
  readonly #look: (context: CallContext) => Promise<Found>
  #looking: Promise<Found> | null = null

  constructor(look: (context: CallContext) => Promise<Found>) {
    this.#look = look
  }

  async get({ signal }: CallContext): Promise<Found> {
    signal.throwIfAborted()
    if (this.#looking === null) {
      // The server's own time limit ends it.
      this.#looking = this.#look({ signal: new AbortController().signal })
      this.#looking.catch(() => this.forget())
    }
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([this.#looking, aborted])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  forget(): void {
    this.#looking = null
  }
}
