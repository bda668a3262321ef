import type { CallContext, MetadataPut, TagMetadata, TagPage, TagQuery } from '../../historian/contract.ts'
import { metadataAfter } from '../../historian/tag-metadata.ts'
import { Catalog } from './catalog.ts'
import type { OwnTags } from './own-tags.ts'
import type { SeriesTags } from './series-tags.ts'
import { NO_METADATA, type TagSource } from './tag-list.ts'

/** Where the tags of a historian come from. */
export interface TagSources {
  /** Tidemark's own mapping measurement; its tags exist. */
  readonly own: OwnTags | null
  /** Series of others; they exist, too. */
  readonly series: SeriesTags | null
  /** Metadata for them; a name in it makes no tag. */
  readonly metadata: TagSource | null
  /** Whether a name can be a tag here at all. */
  isPossible(name: string): boolean
}

/** Which tags there are: found by name at the server each time, searched in a list that is kept. */
export class Tags {
  readonly #sources: TagSources
  readonly #catalog: Catalog

  constructor(sources: TagSources, catalogSeconds: number) {
    this.#sources = sources
    this.#catalog = new Catalog((take, context) => this.#list(take, context), catalogSeconds)
  }

  async find(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    context.signal.throwIfAborted()
    const { own, series, metadata } = this.#sources
    const possible = [...new Set(names)].filter((name) => this.#sources.isPossible(name))
    const ask = async <T>(source: { find(n: readonly string[], c: CallContext): Promise<T> } | null) =>
      source === null || possible.length === 0 ? null : source.find(possible, context)
    const [ownFound, seriesFound, metadataFound] = await Promise.all([ask(own), ask(series), ask(metadata)])
    const found = new Map<string, TagMetadata>()
    possible.forEach((name, index) => {
      const entry = ownFound?.[index]
      if (entry) found.set(name, entry)
      else if (seriesFound?.has(name)) found.set(name, metadataFound?.[index] ?? NO_METADATA)
    })
    return names.map((name) => found.get(name) ?? null)
  }

  search(query: TagQuery, context: CallContext): Promise<TagPage> {
    return this.#catalog.search(query, context)
  }

  /** Tags were written to, and made where they were not there. */
  made(names: Iterable<string>): void {
    for (const name of names) this.#catalog.update(name, (before) => before ?? NO_METADATA)
  }

  changed(name: string, put: MetadataPut): void {
    this.#catalog.update(name, (before) => metadataAfter(before, put))
  }

  removed(names: Iterable<string>): void {
    for (const name of names) this.#catalog.remove(name)
  }

  async #list(take: (name: string, metadata: TagMetadata) => void, context: CallContext): Promise<void> {
    const { own, series, metadata } = this.#sources
    const known = new Map<string, TagMetadata>()
    const listed: string[] = []
    await Promise.all([
      series?.list((name) => listed.push(name), context),
      metadata?.list((name, found) => known.set(name, found), context),
    ])
    for (const name of listed) take(name, known.get(name) ?? NO_METADATA)
    // Tidemark's own entry says more than that there is a series.
    await own?.list((name, found) => {
      if (this.#sources.isPossible(name)) take(name, found)
    }, context)
  }
}
