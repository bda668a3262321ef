import type { TagMetadata } from '../historian/contract.ts'

/**
 * How a command reaches historians: a running service over HTTP, or a data directory in place. Both speak the bodies of
 * the interface, so that a command is written once and answers are the same either way.
 */
export interface Access {
  listHistorians(): Promise<readonly { readonly name: string; readonly writable: boolean }[]>
  /** A page of tags as `GET /historian/search` gives them. */
  searchTags(query: SearchQuery): Promise<SearchPage>
  /** Metadata of named tags, as `POST /historian/metadata/get` gives it. */
  getMetadata(addresses: readonly string[]): Promise<MetadataAnswer>
  /** Creates or changes tags as `POST /historian/<change>` does: those with problems stay as they were. */
  putMetadata(change: MetadataChange, body: object): Promise<MetadataAnswer>
  /**
   * Writes points, creating missing tags; resolves when they are durable.
   * @returns how many were left out, as their tags keep none that are as old
   */
  writePoints(points: ReadonlyMap<string, ColumnsBody>): Promise<number>
  /** A change as the endpoint `/historian/<change>` makes it. Ends the command where anything is refused. */
  change(change: Change, body: object): Promise<Readonly<Record<string, unknown>>>
  listAliases(query: AliasQuery): Promise<AliasPage>
  /** @returns whether it was made, and what is doubtful about it */
  putAlias(
    name: string,
    alias: object,
  ): Promise<{ readonly isNew: boolean; readonly warnings: readonly string[] }>
  deleteAlias(name: string): Promise<void>
  /** A multi call; answers of a refused call come back too. */
  multi(body: object): Promise<MultiBody>
  close(): Promise<void>
}

export interface SearchQuery {
  readonly historian?: string | undefined
  readonly search?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface SearchPage {
  readonly tags: readonly (TagMetadata & { readonly qualifiedTagName: string })[]
  readonly next?: string
}

export type MetadataChange = 'metadata/create' | 'metadata/update'
export type Change = 'metadata/rename' | 'metadata/delete' | 'delete/points'

/** What became of each tag of a request about metadata; one that is refused as a whole ends the command. */
export interface MetadataAnswer {
  /** Metadata of the tags that were found or stored, by address. */
  readonly entries: ReadonlyMap<string, TagMetadata>
  /** Of all others. */
  readonly problems: readonly MetadataProblem[]
  /** What is behind the problems, for --debug. */
  readonly cause?: unknown
}

export interface MetadataProblem {
  /** Of src/errors/codes.ts. */
  readonly code: string
  /** With the names that were probably meant. */
  readonly sentence: string
}

export interface AliasQuery {
  readonly prefix?: string | undefined
  readonly cursor?: string | undefined
}

export interface AliasPage {
  readonly aliases: readonly {
    readonly name: string
    readonly tag: string
    readonly description: string | null
    readonly units: string | null
  }[]
  readonly next?: string
}

/** Points of one tag on the wire. Timestamps in epoch microseconds for writes, milliseconds in answers. */
export interface ColumnsBody {
  readonly timestamps: readonly number[]
  readonly values: readonly (number | null)[]
  readonly statuses?: readonly string[]
  readonly unit?: string
}

/** The answer of a multi call, as far as commands look into it. */
export interface MultiBody {
  readonly message?: string
  readonly results: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Cursors of the labels of which there is more. */
  readonly next?: Readonly<Record<string, string>>
  readonly errors: Readonly<Record<string, string>>
  readonly issues?: readonly {
    readonly code: string
    readonly message: string
    readonly label?: string
    readonly suggestions?: readonly string[]
  }[]
  readonly warnings?: readonly string[]
}
