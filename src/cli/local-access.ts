import type { Settings } from '../config/settings.ts'
import type { Outcome } from '../errors/outcome.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { parseAddress } from '../grammar/address.ts'
import type { Historian, TagMetadata } from '../historian/contract.ts'
import { parseTagPattern } from '../historian/tag-pattern.ts'
import { ALIASES, isAliases } from '../historian/visible-aliases.ts'
import { runMulti } from '../multi/run.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import type { WriteCall } from '../write/call.ts'
import { createMetadata } from '../write/metadata.ts'
import { writePoints } from '../write/write-points.ts'
import type { Access, ColumnsBody, MultiBody, SearchPage, SearchQuery } from './access.ts'
import { presentInstant } from './clock.ts'
import { CommandError } from './exit.ts'
import { joinErrors } from './http-access.ts'
import type { InPlace } from './tools.ts'

/** Nobody waits behind a connection: a slow disk is no reason to give up. */
const WRITE_DEADLINE_SECONDS = 3600

/** Reaches a data directory in place, through the functions that the service's routes call. */
export class LocalAccess implements Access {
  readonly #data: InPlace
  readonly #settings: Settings
  readonly #signal: AbortSignal

  /** @param data closed with this */
  constructor(data: InPlace, settings: Settings, signal: AbortSignal) {
    this.#data = data
    this.#settings = settings
    this.#signal = signal
  }

  async listHistorians() {
    return this.#data.historians
      .list()
      .map(({ name, capabilities }) => ({ name, writable: capabilities.write }))
  }

  async searchTags({ historian, search, limit, cursor }: SearchQuery): Promise<SearchPage> {
    const historians = historian === undefined ? this.#data.historians.list() : [this.#searched(historian)]
    const pattern = search === undefined ? null : parseTagPattern(search)
    const after = cursor === undefined ? null : parseAddress(cursor)
    const context = { signal: this.#signal }
    for (const candidate of historians) {
      if (after !== null && candidate.name < after.historian) continue
      const query = { pattern, limit, after: after?.historian === candidate.name ? after.tag : null }
      const { tags, more } = await candidate.searchTags(query, context)
      if (tags.length === 0) continue
      const found = tags.map(({ name }) => ({ qualifiedTagName: `${candidate.name}/${name}` }))
      // The last tag tells where to go on, also when what follows is in the next historian.
      const isLast = !more && candidate === historians.at(-1)
      return isLast ? { tags: found } : { tags: found, next: found.at(-1)!.qualifiedTagName }
    }
    return { tags: [] }
  }

  async findTags(addresses: readonly string[]): Promise<ReadonlyMap<string, TagMetadata>> {
    const found = new Map<string, TagMetadata>()
    for (const [name, group] of Map.groupBy(addresses, (address) => parseAddress(address)?.historian ?? '')) {
      const tags = group.map((address) => parseAddress(address)?.tag ?? '')
      const metadata = await this.#historian(name).findTags(tags, { signal: this.#signal })
      for (const [index, entry] of metadata.entries()) if (entry !== null) found.set(group[index]!, entry)
    }
    return found
  }

  async putTags(entries: ReadonlyMap<string, TagMetadata>): Promise<void> {
    const body = { entries: Object.fromEntries(entries), updateIfExists: true }
    const { outcome, body: answer, failures } = await createMetadata(body, this.#call())
    const errors = Object.values(answer.errors)
    if (outcome !== 'done' || errors.length > 0) {
      throw failure(outcome, 'The metadata could not be stored', errors, failures)
    }
  }

  async writePoints(points: ReadonlyMap<string, ColumnsBody>): Promise<void> {
    const body = { points: Object.fromEntries(points), createTags: true }
    const { outcome, body: answer, failures } = await writePoints(body, this.#call())
    if (outcome !== 'done') throw failure(outcome, answer.message, answer.errors, failures)
  }

  async multi(body: object): Promise<MultiBody> {
    const { limits, timeZone, defaultHistorian } = this.#settings
    const answer = await runMulti(body, {
      historians: this.#data.historians,
      limits,
      defaultZone: parseTimeZone(timeZone) ?? UTC,
      defaultHistorian,
      now: presentInstant(),
      signal: this.#signal,
    })
    return JSON.parse(Buffer.concat([...answer.pieces()]).toString()) as MultiBody
  }

  async close(): Promise<void> {
    await this.#data.close()
  }

  #searched(name: string): Pick<Historian, 'name' | 'searchTags'> {
    const { aliases } = this.#data.historians
    if (aliases === null || !isAliases(name)) return this.#historian(name)
    return { name: ALIASES, searchTags: (query, context) => aliases.searchTags(query, context) }
  }

  #historian(name: string): Historian {
    const historian = this.#data.historians.find(name)
    if (historian === null) throw new TidemarkError('HISTORIAN_UNKNOWN', { historian: name })
    return historian
  }

  #call(): WriteCall {
    return {
      historians: this.#data.historians,
      now: presentInstant(),
      defaultZone: parseTimeZone(this.#settings.timeZone) ?? UTC,
      deadlineSeconds: WRITE_DEADLINE_SECONDS,
      signal: this.#signal,
    }
  }
}

function failure(
  outcome: Outcome,
  message: string,
  errors: readonly string[],
  failures: readonly unknown[] | undefined,
): CommandError {
  const details = errors.filter((error) => error !== message)
  return new CommandError(joinErrors(message, details), undefined, failures?.[0] ?? outcome)
}
