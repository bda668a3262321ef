import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { type ZodType, z } from 'zod'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { nearestName } from '../errors/warnings.ts'
import { systemTimeZone } from '../time/zone.ts'
import { ENVIRONMENT_SETTINGS, type Environment } from './environment.ts'
import { DEMO_HISTORIAN } from './historian-names.ts'
import { problemsOf, type SchemaIssue } from './problems.ts'
import { type FileSettings, fileSchema } from './schema.ts'
import type { HistorianSettings, Settings, StoreSettings } from './settings.ts'
import { ConfigTree } from './tree.ts'

/** A file of this name in the working directory is read when no other is named. */
export const DEFAULT_CONFIG_FILE = 'tidemark.yaml'

/** A configuration larger than this is none. */
const MAX_FILE_BYTES = 10 * 1024 ** 2
const MAX_PROBLEMS = 20

/** What each kind of historian is configured with; the drivers' definitions fit. */
export type HistorianTypes = ReadonlyMap<string, { readonly configSchema: ZodType }>

/** What each kind of store of keys and aliases is configured with. */
export type StoreTypes = HistorianTypes

export interface LoadOptions {
  /** As given with --config; without it TIDEMARK_CONFIG, else tidemark.yaml of `directory` if there is one, else no file. */
  readonly file?: string | undefined
  /** Settings of the command line, by path (`server.port`), with the option's name for messages. Texts are converted. */
  readonly flags?: readonly { readonly path: string; readonly value: unknown; readonly flag: string }[]
  readonly env: Environment
  /** Working directory: paths of the command line, the environment and the defaults are relative to it. */
  readonly directory: string
  readonly types: HistorianTypes
  /** Left out where there is nothing but the data directory. */
  readonly stores?: StoreTypes
}

/** Settings, and where they came from. */
export interface LoadedSettings {
  readonly settings: Settings
  /** Path of the file read; null without one. */
  readonly file: string | null
}

/**
 * Reads the settings: defaults, then the file, then the environment, then the command line, each over the one before.
 * Paths inside the file are relative to the file's folder.
 * @throws TidemarkError CONFIG_INVALID with a line for each problem, naming the path in the file and what is allowed
 */
export function loadSettings(options: LoadOptions): LoadedSettings {
  const file = findFile(options)
  const tree = new ConfigTree(file === null ? {} : readYaml(file), options.env)
  for (const [name, path] of Object.entries(ENVIRONMENT_SETTINGS)) {
    const value = options.env[name]
    // An empty variable is how compose files and shells say "not set".
    if (value !== undefined && value !== '') tree.override(path, value, name)
  }
  for (const { path, value, flag } of options.flags ?? []) tree.override(path, value, flag)

  const checked = check(fileSchema, tree, [], file) as FileSettings
  const pathIn = (path: string, setting: string) =>
    resolve(
      file === null ||
        tree.originOf(setting.split('.')) !== undefined ||
        tree.writtenAt(setting.split('.')) === undefined
        ? options.directory
        : dirname(file),
      path,
    )
  const historians = checkHistorians(checked, tree, options.types, file)
  return {
    file,
    settings: {
      server: {
        ...checked.server,
        tls: checked.server.tls && {
          certFile: pathIn(checked.server.tls.certFile, 'server.tls.certFile'),
          keyFile: pathIn(checked.server.tls.keyFile, 'server.tls.keyFile'),
        },
      },
      dataDir: pathIn(checked.dataDir, 'dataDir'),
      store: checkStore(checked, tree, options.stores ?? new Map(), file),
      timeZone: checked.timeZone ?? systemTimeZone().id,
      defaultHistorian: defaultHistorian(checked, file),
      limits: checked.limits,
      historians,
      log: checked.log,
      demo: checked.demo,
    },
  }
}

function findFile({ file, env, directory }: LoadOptions): string | null {
  const named = file ?? (env.TIDEMARK_CONFIG || undefined)
  if (named !== undefined) {
    const path = resolve(directory, named)
    if (!existsSync(path)) throw invalid(`The configuration file ${path} does not exist`)
    return path
  }
  const path = resolve(directory, DEFAULT_CONFIG_FILE)
  return existsSync(path) ? path : null
}

function readYaml(file: string): Record<string, unknown> {
  let text: string
  try {
    const bytes = readFileSync(file)
    if (bytes.length > MAX_FILE_BYTES) throw invalid(`${file} is larger than ${MAX_FILE_BYTES} bytes`)
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TidemarkError) throw error
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : (error as Error).message
    throw invalid(`The configuration file ${file} cannot be read: ${reason}`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const error = document.errors[0]
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0])
    throw invalid(`${file}, line ${line}, column ${col}: ${error.message}`)
  }
  let content: unknown
  try {
    content = document.toJS()
  } catch (cause) {
    // An alias to nothing, or so many that they would fill the memory.
    throw invalid(`${file}: ${(cause as Error).message}`)
  }
  if (content === null || content === undefined) return {}
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw invalid(`${file}: settings such as "dataDir: ./data" are expected, one name and value each`)
  }
  return content as Record<string, unknown>
}

/** The value at `path` of the tree as the schema makes it. A text of a variable is converted where the schema wants it so. */
function check(
  schema: ZodType,
  tree: ConfigTree,
  path: readonly PropertyKey[],
  file: string | null,
): unknown {
  const parse = () => schema.safeParse(valueAt(tree.values, path))
  let outcome = parse()
  if (!outcome.success) {
    let converted = false
    for (const issue of outcome.error.issues) {
      const place = [...path, ...issue.path]
      if (issue.code === 'invalid_type' && tree.isText(place)) converted = tree.convert(place) || converted
    }
    if (converted) outcome = parse()
  }
  if (outcome.success) return outcome.data
  const issues = outcome.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
  throw refused(
    problemsOf(issues as readonly SchemaIssue[], tree, (place) => keysOf(schema, place.slice(path.length))),
    file,
  )
}

function checkHistorians(
  checked: FileSettings,
  tree: ConfigTree,
  types: HistorianTypes,
  file: string | null,
): ReadonlyMap<string, HistorianSettings> {
  const settings = new Map<string, HistorianSettings>()
  for (const name of Object.keys(checked.historians)) {
    const { type } = checked.historians[name]!
    const kind = types.get(type)
    if (kind === undefined) {
      const problem = `${JSON.stringify(type)} is not a kind of historian: ${kindExpected(type, types)}`
      throw refused([`historians.${name}.type: ${problem}`], file)
    }
    if (checked.demo && name === DEMO_HISTORIAN) {
      throw refused(
        [
          `historians.${name}: the demo plant takes this name: leave --demo out, or name the historian otherwise`,
        ],
        file,
      )
    }
    const place = ['historians', name]
    const written = valueAt(tree.values, place)
    // Without a file there is only the default historian, which has nothing but its type.
    if (written === undefined) {
      settings.set(name, { type, options: kind.configSchema.parse({}) as Record<string, unknown> })
      continue
    }
    delete (written as Record<string, unknown>).type
    const options = check(strict(kind.configSchema), tree, place, file) as Record<string, unknown>
    settings.set(name, { type, options })
  }
  return settings
}

function checkStore(
  { store }: FileSettings,
  tree: ConfigTree,
  types: StoreTypes,
  file: string | null,
): StoreSettings | null {
  if (store === null) return null
  const { type } = store
  const kind = types.get(type)
  if (kind === undefined) {
    const problem = `${JSON.stringify(type)} is not a kind of store: ${kindExpected(type, types)}`
    throw refused([`store.type: ${problem}`], file)
  }
  delete (valueAt(tree.values, ['store']) as Record<string, unknown>).type
  const options = check(strict(kind.configSchema), tree, ['store'], file) as Record<string, unknown>
  return { type, options }
}

function kindExpected(type: string, types: HistorianTypes): string {
  const known = [...types.keys()]
  const near = nearestName(type, known)
  return near === null ? `one of ${known.join(', ')} is expected` : `${near} was meant?`
}

function defaultHistorian(checked: FileSettings, file: string | null): string | null {
  const names = Object.keys(checked.historians)
  const wanted = checked.defaultHistorian
  if (wanted === null) return names.length === 1 ? names[0]! : null
  if (names.includes(wanted) || (checked.demo && wanted === DEMO_HISTORIAN)) return wanted
  throw refused(
    [`defaultHistorian: ${JSON.stringify(wanted)} is not configured: one of ${names.join(', ')} is expected`],
    file,
  )
}

/** A driver that takes an object ignores unknown names by zod's default; a misspelt setting must not go unseen. */
function strict(schema: ZodType): ZodType {
  return schema instanceof z.ZodObject ? schema.strict() : schema
}

/** The names that an object schema allows at a path. */
function keysOf(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let place = unwrap(schema)
  for (const step of path) {
    if (!(place instanceof z.ZodObject)) return []
    place = unwrap(place.shape[String(step)])
  }
  return place instanceof z.ZodObject ? Object.keys(place.shape) : []
}

function unwrap(schema: unknown): unknown {
  let inner = schema
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodOptional
  ) {
    inner = inner.unwrap()
  }
  return inner
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let place = tree
  for (const step of path) place = (place as Record<PropertyKey, unknown> | undefined)?.[step]
  return place
}

function refused(problems: readonly string[], file: string | null): TidemarkError {
  const shown = problems.slice(0, MAX_PROBLEMS)
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`)
  const source = file === null ? 'The settings are not valid' : `${file} is not valid`
  return invalid(shown.length === 1 ? `${source}: ${shown[0]}` : `${source}:\n  ${shown.join('\n  ')}`)
}

function invalid(message: string): TidemarkError {
  return new TidemarkError('CONFIG_INVALID', { message })
}
