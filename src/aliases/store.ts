/** A tag or calculation under a name. */
export interface Alias {
  /** 1 to 512 UTF-16 units, as the name of any tag. */
  readonly name: string
  /** The address that it refers to, as it was written. */
  readonly tag: string
  readonly description: string | null
  readonly units: string | null
}

/** The aliases in one state: nothing changes between two of its reads. Usable only while its call lasts. */
export interface AliasReader {
  /** `null` when there is none. */
  get(name: string): Alias | null
  /** A page by name, in code point order. */
  list(query: AliasQuery): readonly Alias[]
}

export interface AliasQuery {
  /** Beginning of the names; '' for all. */
  readonly prefix: string
  /** Only names after this one; `null` from the start. */
  readonly after: string | null
  /** At least 1. */
  readonly limit: number
}

/** Looks at the state that is about to change, and refuses the change by throwing. */
export type AliasCheck = (aliases: AliasReader) => void

/**
 * Store of aliases. Every change is durable when it resolves, and seen at once by every process that has the same
 * data directory or store: each call looks at the newest state. Changes exclude each other, so what a check saw still
 * holds when its change is made. Rejects with ALIASES_UNAVAILABLE when the store fails.
 */
export interface AliasStore {
  /** @param work must not wait for anything, and take no longer than a slice of the event loop should */
  read<Result>(work: (aliases: AliasReader) => Result): Promise<Result>
  put(alias: Alias, check: AliasCheck): Promise<'created' | 'replaced'>
  /** Whether there was one. */
  delete(name: string, check: AliasCheck): Promise<boolean>
}
