/** Settings of the server for one query; numbers and words of the driver's own. */
export type QuerySettings = Readonly<Record<string, string | number>>

/**
 * Settings that only newer servers have; a server refuses a query with a setting that it does not know. The older name
 * of the same setting stands beside its former names.
 */
const NEWER: Readonly<Record<string, string | null>> = {
  async_insert: null,
  deduplicate_insert: null,
  deduplicate_insert_select: null,
  distributed_foreground_insert: 'insert_distributed_sync',
}

/** It guards codecs, and came with the codecs that the tables use. */
const CODEC_SETTING = 'allow_suspicious_codecs'

/** Settings of tables that only newer servers have, and their values. */
const NEWER_OF_TABLES: Readonly<Record<string, number>> = {
  // Columns of mostly zeros are kept in another way, which takes -0 for 0 in 24.8.
  ratio_of_defaults_for_sparse_serialization: 1,
}

/** Which settings the servers know, so that each gets the names of its version. */
export class ServerSettings {
  /** What is asked for in the servers' own lists of settings, of queries and of tables. */
  static readonly asked: readonly string[] = [
    ...Object.keys(NEWER),
    CODEC_SETTING,
    ...Object.keys(NEWER_OF_TABLES),
  ]

  #known: ReadonlySet<string> = new Set()

  /** @param names those of `asked` that the servers have */
  learn(names: Iterable<string>): void {
    this.#known = new Set(names)
  }

  /** Whether columns can be compressed in ways of their own. */
  get hasCodecs(): boolean {
    return this.#known.has(CODEC_SETTING)
  }

  /** Settings of the tables that are made. */
  get ofTables(): QuerySettings {
    return Object.fromEntries(Object.entries(NEWER_OF_TABLES).filter(([name]) => this.#known.has(name)))
  }

  /** Settings under the names that the servers know, without unknown ones. */
  named(settings: QuerySettings): QuerySettings {
    const named: Record<string, string | number> = {}
    for (const [name, value] of Object.entries(settings)) {
      const older = this.#known.has(name) ? undefined : NEWER[name]
      if (older !== null) named[older ?? name] = value
    }
    return named
  }
}
