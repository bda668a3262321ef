import { deleteAlias, listAliases, putAlias } from '../aliases/requests.ts'
import type { Settings } from '../config/settings.ts'
import type { ErrorBody } from '../errors/error-body.ts'
import type { Outcome, Result } from '../errors/outcome.ts'
import type { TagMetadata } from '../historian/contract.ts'
import { searchTags } from '../historian/search.ts'
import { runMulti } from '../multi/run.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import type { WriteCall } from '../write/call.ts'
import { deletePoints, deleteTags } from '../write/corrections.ts'
import { type Members, objectOf } from '../write/members.ts'
import {
  createMetadata,
  getMetadata,
  type MetadataBody,
  type MetadataGetBody,
  updateMetadata,
} from '../write/metadata.ts'
import { renameTags } from '../write/rename.ts'
import { writePoints } from '../write/write-points.ts'
import type {
  Access,
  AliasPage,
  AliasQuery,
  Change,
  ColumnsBody,
  MetadataAnswer,
  MetadataChange,
  MultiBody,
  SearchPage,
  SearchQuery,
} from './access.ts'
import { presentInstant } from './clock.ts'
import { CommandError } from './exit.ts'
import { joinErrors, problemsOf, withHints } from './hints.ts'
import type { InPlace } from './tools.ts'

/** No client waits behind a connection: a slow disk is no reason to give up. */
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
    const query = { historian, search, limit: String(limit), cursor }
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
    const result = await searchTags(given, this.#call())
    if (result.outcome !== 'done') throw refusalOf(result)
    return result.body as SearchPage
  }

  async getMetadata(addresses: readonly string[]): Promise<MetadataAnswer> {
    const result = await getMetadata({ tags: addresses }, this.#call())
    return metadataOf(result, result.body.entries)
  }

  async putMetadata(change: MetadataChange, body: object): Promise<MetadataAnswer> {
    const put = change === 'metadata/create' ? createMetadata : updateMetadata
    const result = await put(body, this.#call())
    return metadataOf(result, result.body.handledEntries)
  }

  async writePoints(points: ReadonlyMap<string, ColumnsBody>): Promise<number> {
    const body = { points: Object.fromEntries(points), createTags: true }
    const { outcome, body: answer, failures } = await writePoints(body, this.#call())
    const { tooOld = 0 } = answer
    if (outcome !== 'done' && tooOld === 0) throw failure(outcome, answer.message, answer.errors, failures)
    return tooOld
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
    return JSON.parse(Buffer.concat([...answer.chunks()]).toString()) as MultiBody
  }

  async change(change: Change, body: object): Promise<Readonly<Record<string, unknown>>> {
    const result: Result<ErrorBody> = await CHANGES[change](body, this.#call())
    const { outcome, body: answer } = result
    if (outcome !== 'done' || sentencesIn(answer.errors).length > 0) throw refusalOf(result)
    return Object.fromEntries(
      Object.entries(answer).map(([name, value]) => [name, value instanceof Map ? objectOf(value) : value]),
    )
  }

  listAliases({ prefix, cursor }: AliasQuery): Promise<AliasPage> {
    const query = { ...(prefix !== undefined && { prefix }), ...(cursor !== undefined && { cursor }) }
    return listAliases(query, this.#data.aliases, { signal: this.#signal })
  }

  async putAlias(name: string, alias: object) {
    const { outcome, body } = await putAlias(name, alias, this.#data.aliases, { signal: this.#signal })
    return { isNew: outcome === 'created', warnings: body.warnings ?? [] }
  }

  deleteAlias(name: string): Promise<void> {
    return deleteAlias(name, this.#data.aliases)
  }

  async close(): Promise<void> {
    await this.#data.close()
  }

  #call(): WriteCall {
    return {
      historians: this.#data.historians,
      now: presentInstant(),
      defaultZone: parseTimeZone(this.#settings.timeZone) ?? UTC,
      deadlineSeconds: WRITE_DEADLINE_SECONDS,
      limits: this.#settings.limits,
      signal: this.#signal,
    }
  }
}

const CHANGES = {
  'metadata/rename': renameTags,
  'metadata/delete': deleteTags,
  'delete/points': deletePoints,
} as const satisfies Readonly<Record<Change, unknown>>

function metadataOf(
  result: Result<MetadataBody | MetadataGetBody>,
  entries: Members<TagMetadata>,
): MetadataAnswer {
  const { message, issues = [] } = result.body
  if (message !== undefined) throw refusalOf(result)
  const problems = problemsOf(issues)
  return { entries: new Map(Object.entries(objectOf(entries))), problems, cause: result.failures?.[0] }
}

/** The end of a command whose request was refused, with the names that were probably meant. */
function refusalOf({ outcome, body, failures }: Result<object>): CommandError {
  const { message, errors = [], issues } = body as Partial<ErrorBody | MetadataBody | MetadataGetBody>
  const sentences = withHints(sentencesIn(errors), issues)
  const first = message ?? 'Not everything could be done'
  return failure(outcome, first, sentences, failures)
}

function sentencesIn(errors: readonly string[] | Members<string>): readonly string[] {
  return Array.isArray(errors) ? errors : Object.values(objectOf(errors as Members<string>))
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
