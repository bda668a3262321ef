import { warningsField } from '../errors/error-body.ts'
import { type Fields, invalidField, readBody } from '../errors/fields.ts'
import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { Warnings } from '../errors/warnings.ts'
import { isTagName } from '../grammar/address.ts'
import { MAX_CALCULATION_LENGTH } from '../grammar/parser.ts'
import type { CallContext } from '../historian/contract.ts'
import { isMetadataText, MAX_DESCRIPTION, MAX_UNITS, textExpected } from '../historian/metadata-text.ts'
import { type QueryParameters, readLimit, readText as readParameter } from '../historian/query-parameters.ts'
import { formatSearchCursor, parseSearchCursor } from '../historian/search-cursor.ts'
import { ALIASES } from '../historian/visible-aliases.ts'
import type { Alias } from './store.ts'
import { type AliasView, aliasNotFound } from './view.ts'

/*
 * What the alias endpoints do. Every function throws a TidemarkError for an invalid request; there is nothing that
 * is done in part.
 */

/** The answer to GET /historian/aliases. */
export interface AliasListBody {
  readonly aliases: readonly Alias[]
  /** Cursor of the next page; left out when there is none. */
  readonly next?: string
  readonly warnings?: readonly string[]
}

/** The answer to GET and PUT /historian/aliases/<name>. */
export interface AliasBody extends Alias {
  readonly warnings?: readonly string[]
}

const LIST_FIELDS = ['prefix', 'limit', 'cursor'] as const
const ALIAS_FIELDS = ['tag', 'description', 'units'] as const
/** Sent by clients that change what they have read. */
const ECHOED_FIELDS = ['name'] as const
/** Sentences of one answer. */
const MAX_WARNINGS = 100
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 10_000
const MAX_PREFIX = 512

/** A page of the aliases that the caller sees, by name. */
export async function listAliases(
  query: QueryParameters,
  aliases: AliasView,
  context: CallContext,
): Promise<AliasListBody> {
  const warnings = new Warnings()
  warnings.checkFields(query, LIST_FIELDS, 'the query', ['apikey'])
  const prefix = readParameter(query, 'prefix') ?? ''
  if (prefix.length > MAX_PREFIX) {
    throw invalidField('prefix', prefix, `a text of at most ${MAX_PREFIX} characters`)
  }
  const limit = readLimit(query, DEFAULT_LIMIT, MAX_LIMIT)
  const cursor = readParameter(query, 'cursor')
  const scope = { historian: ALIASES, pattern: prefix }
  const after = cursor === null ? null : parseSearchCursor(cursor, scope).tag
  const page = await aliases.list({ prefix, after, limit }, context)
  const last = page.aliases.at(-1)
  const next =
    page.more && last !== undefined
      ? { next: formatSearchCursor({ historian: ALIASES, tag: last.name }, scope) }
      : {}
  return { aliases: page.aliases, ...next, ...warningsField(warnings) }
}

/** One alias. Throws TAG_NOT_FOUND. */
export async function getAlias(name: string, aliases: AliasView): Promise<AliasBody> {
  const alias = await aliases.get(name)
  if (alias === null) throw aliasNotFound(name)
  return alias
}

/**
 * Makes an alias or gives it another meaning; what is left out of the body is null afterwards. Durable when it
 * resolves.
 */
export async function putAlias(
  name: string,
  body: unknown,
  aliases: AliasView,
  context: CallContext,
): Promise<{ readonly outcome: 'created' | 'replaced'; readonly body: AliasBody }> {
  if (!isTagName(name)) {
    const input = showInput(name)
    throw new TidemarkError('ALIAS_NAME', { input }, { place: { input } })
  }
  const warnings = new Warnings()
  const fields = readBody(body, ALIAS_FIELDS, warnings, { place: 'an alias', silent: ECHOED_FIELDS })
  const alias = {
    name,
    tag: readTag(fields),
    description: readText(fields, 'description', MAX_DESCRIPTION),
    units: readText(fields, 'units', MAX_UNITS),
  }
  if ((fields.name ?? name) !== name) throw invalidField('name', fields.name, 'the name in the path')
  const outcome = await aliases.put(alias)
  const sentences = [...warnings.list(), ...(await missingOf(alias, aliases, context))]
  const shown = sentences.length > 0 ? { warnings: sentences.slice(0, MAX_WARNINGS) } : {}
  return { outcome, body: { ...alias, ...shown } }
}

/** Removes an alias. Throws TAG_NOT_FOUND. Durable when it resolves. */
export async function deleteAlias(name: string, aliases: AliasView): Promise<void> {
  await aliases.delete(name)
}

/**
 * The alias is stored by now: that a historian cannot be queried whether a tag exists is no reason to call that a
 * failure.
 */
async function missingOf(
  { tag }: Alias,
  aliases: AliasView,
  context: CallContext,
): Promise<readonly string[]> {
  try {
    return await aliases.findMissing(tag, context)
  } catch (error) {
    if (error instanceof TidemarkError) return []
    throw error
  }
}

function readTag(fields: Fields): string {
  const { tag } = fields
  if (typeof tag === 'string' && tag.length <= MAX_CALCULATION_LENGTH && tag.isWellFormed()) return tag
  const expected = `a tag address or calculation of at most ${MAX_CALCULATION_LENGTH} characters`
  throw invalidField('tag', tag, expected)
}

function readText(fields: Fields, field: string, max: number): string | null {
  const value = fields[field] ?? null
  if (isMetadataText(value, max)) return value
  throw invalidField(field, value, textExpected(max))
}
