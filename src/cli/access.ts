import type { TagMetadata } from '../historian/contract.ts'

/**
 * How a command reaches historians: a running service over HTTP, or a data directory in place. Both speak the bodies of
 * the interface, so that a command is written once and answers are the same either way.
 */
export interface Access {
  listHistorians(): Promise<readonly { readonly name: string; readonly writable: boolean }[]>
  /** A page of tags as `GET /historian/search` gives them. */
  searchTags(query: SearchQuery): Promise<SearchPage>
  /** Metadata of named tags; a tag that does not exist is absent. */
  findTags(addresses: readonly string[]): Promise<ReadonlyMap<string, TagMetadata>>
  /** Creates tags or overwrites their metadata. */
  putTags(entries: ReadonlyMap<string, TagMetadata>): Promise<void>
  /** Writes points, creating missing tags; resolves when they are durable. */
  writePoints(points: ReadonlyMap<string, ColumnsBody>): Promise<void>
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
  readonly tags: readonly { readonly qualifiedTagName: string }[]
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
  readonly errors: Readonly<Record<string, string>>
  readonly issues?: readonly { readonly code: string; readonly message: string }[]
  readonly warnings?: readonly string[]
}
