import { send } from './client.ts'

/** A tag that a search found. */
export interface FoundTag {
  readonly tagName: string
  readonly qualifiedTagName: string
  readonly historianName: string
  readonly description: string | null
  readonly units: string | null
  readonly stepped: boolean
}

export interface Metadata {
  readonly description: string | null
  readonly units: string | null
  readonly stepped: boolean
  readonly states?: Readonly<Record<string, string>> | null
  readonly maxGap?: string | number | null
}

export interface SearchAnswer {
  readonly tags: readonly FoundTag[]
  readonly next?: string
}

export interface SearchOptions {
  readonly historian?: string
  readonly limit?: number
  readonly cursor?: string
  readonly cancel?: AbortSignal
}

export function searchTags(pattern: string, options: SearchOptions = {}): Promise<SearchAnswer> {
  const query = new URLSearchParams({ limit: String(options.limit ?? 100) })
  if (pattern !== '') query.set('search', pattern)
  if (options.historian !== undefined) query.set('historian', options.historian)
  if (options.cursor !== undefined) query.set('cursor', options.cursor)
  return send('GET', `historian/search?${query}`, undefined, options.cancel)
}

/** One level of the tree of a historian's names. */
export interface Level {
  /** Beginnings of names, up to and with a separator. */
  readonly branches: readonly string[]
  readonly tags: readonly FoundTag[]
  readonly next?: string
}

export function browseTags(historian: string, prefix: string, cursor: string): Promise<Level> {
  const query = new URLSearchParams({ historian, limit: '200' })
  if (prefix !== '') query.set('prefix', prefix)
  if (cursor !== '') query.set('cursor', cursor)
  return send('GET', `historian/browse?${query}`)
}

export async function listHistorians(): Promise<readonly string[]> {
  const { historians } = await send<{ historians: readonly { name: string }[] }>('GET', 'historian/list')
  return historians.map(({ name }) => name)
}

/** Null where a tag does not exist, or is no stored one. */
export async function readMetadata(
  tags: readonly string[],
  cancel?: AbortSignal,
): Promise<ReadonlyMap<string, Metadata>> {
  const answer = await send<{ entries: Record<string, Metadata> }>(
    'POST',
    'historian/metadata/get',
    { tags },
    cancel,
  )
  return new Map(Object.entries(answer.entries))
}

/** A function that calculations can name. */
export interface CalculationFunction {
  readonly name: string
  readonly aliases: readonly string[]
  readonly section: string
  readonly usage: string
  readonly summary: string
}

export async function listFunctions(): Promise<readonly CalculationFunction[]> {
  const answer = await send<{ functions: readonly CalculationFunction[] }>('GET', 'historian/calculations')
  return answer.functions
}

/** Whether the key may write, learned from a deletion of nothing that is only counted. */
export async function mayWrite(): Promise<boolean> {
  try {
    await send('POST', 'historian/delete/points', { ranges: {}, dryRun: true })
    return true
  } catch {
    return false
  }
}

export async function saveAlias(name: string, tag: string, description: string): Promise<void> {
  await send('PUT', `historian/aliases/${encodeURIComponent(name)}`, {
    tag,
    ...(description !== '' && { description }),
  })
}
