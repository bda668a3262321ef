import type { ZodType } from 'zod'
import type { AliasStore } from '../aliases/store.ts'
import type { KeyStore } from '../config/keys.ts'

/** Keys and aliases in a server that several processes share, instead of in the data directory of one. */
export interface SharedStore {
  readonly keys: KeyStore
  readonly aliases: AliasStore
  /** Rejects with KEYS_UNAVAILABLE when the server cannot be asked now. */
  check(): Promise<void>
  close(): Promise<void>
}

/** A kind of shared store: its name in the configuration, what it is configured with, and how it is opened. */
export interface SharedStoreDefinition<Config = unknown> {
  /** Value of `store.type`. */
  readonly type: string
  readonly configSchema: ZodType<Config>
  /**
   * Connects when it is first asked: a server that cannot be reached now fails the calls that need it, and nothing
   * else.
   */
  open(config: Config, log: StoreLog): Promise<SharedStore>
}

/** The part of the program's logger that a store uses; the fields hold no secrets. */
export interface StoreLog {
  warn(fields: object, message: string): void
}
