import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { type ZodType, z } from 'zod'
import { SERVER_LIMITS } from '../errors/limits.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { nearestName } from '../errors/warnings.ts'
import { systemTimeZone } from '../time/zone.ts'
import { problemsBeyondSchema } from './check.ts'
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
export type HistorianTypes = ReadonlyMap<
  string,
  {
    readonly configSchema: ZodType
    /** The folder that a historian with this configuration has to itself; `null` where it is not configured. */
    ownFolder?(config: unknown): string | null
  }
>

/** What each kind of store of keys and aliases is configured with. */
export type StoreTypes = HistorianTypes

export interface LoadOptions {
  /**
   * As given with --config; without it TIDEMARK_CONFIG, else tidemark.yaml of `directory` if there is one, else no
   * file.
   */
  readonly file?: string | undefined
  /**
   * Settings of the command line, by path (`server.port`), with the option's name for messages. Texts are converted.
   */
  readonly flags?: readonly { readonly path: string; readonly value: unknown; readonly flag: string }[]
  readonly env: Environment
  /** Working directory: paths of the command line, the environment and the defaults are relative to it. */
  readonly directory: string
  readonly types: HistorianTypes
  /** Left out where there is nothing but the data directory. */
  readonly stores?: StoreTypes
  /** Whether files that settings name are looked at too, as a start does when it comes to them. */
  readonly isThorough?: boolean
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

  const problems = [...tree.problems]
  const checked = check(fileSchema, tree, [], problems) as FileSettings | null
  const isDemo = checked?.demo === true
  const historians = checkHistorians(tree, options, isDemo, problems)
  const store = checkStore(tree, options.stores ?? new Map(), problems)
  const wanted = defaultHistorian(tree, isDemo, problems)
  const pathIn = (path: string, setting: string) => resolve(folderOf(setting, tree, file, options), path)
  if (options.isThorough === true) problems.push(...problemsBeyondSchema(serverFiles(tree, pathIn)))
  if (checked === null || problems.length > 0) throw refused(problems, file)
  return {
    file,
    settings: {
      server: {
        ...checked.server,
        writeBodyLimitBytes: writeBodyLimit(checked, tree),
        tls: checked.server.tls && {
          certFile: pathIn(checked.server.tls.certFile, 'server.tls.certFile'),
          keyFile: pathIn(checked.server.tls.keyFile, 'server.tls.keyFile'),
        },
      },
      dataDir: pathIn(checked.dataDir, 'dataDir'),
      store,
      timeZone: checked.timeZone ?? systemTimeZone().id,
      defaultHistorian: wanted,
      limits: checked.limits,
      historians,
      log: checked.log,
      tracing: checked.tracing,
      demo: checked.demo,
    },
  }
}

/** What the path of a setting is relative to. */
function folderOf(
  setting: string,
  tree: ConfigTree,
  file: string | null,
  { directory }: LoadOptions,
): string {
  const steps = setting.split('.')
  const isOfFile = tree.originOf(steps) === undefined && tree.writtenAt(steps) !== undefined
  return file !== null && isOfFile ? dirname(file) : directory
}

/** The settings of the server that files stand behind, as far as they are texts: what else is wrong its schema says. */
function serverFiles(tree: ConfigTree, pathIn: (path: string, setting: string) => string) {
  const at = (...path: readonly string[]) => valueAt(tree.values, ['server', ...path])
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const proxies = at('trustedProxies')
  const [certFile, keyFile] = ['certFile', 'keyFile'].map((name) => {
    const path = at('tls', name)
    const isKnown = isText(path) && !tree.isUnresolved(['server', 'tls', name])
    return isKnown ? pathIn(path as string, `server.tls.${name}`) : null
  })
  return {
    trustedProxies: Array.isArray(proxies) ? proxies.filter(isText) : [],
    tls: certFile == null || keyFile == null ? null : { certFile, keyFile },
  }
}

/** Who bounds all bodies by the one setting means those of writes, too. */
function writeBodyLimit({ server }: FileSettings, tree: ConfigTree): number {
  if (server.writeBodyLimitBytes !== null) return server.writeBodyLimitBytes
  const isSet = valueAt(tree.values, ['server', 'bodyLimitBytes']) !== undefined
  return isSet ? server.bodyLimitBytes : SERVER_LIMITS.writeBodyLimitBytes.default
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
    const { code, message } = error as NodeJS.ErrnoException
    const known = code === 'EISDIR' ? 'it is a folder' : message
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : known
    throw invalid(`The configuration file ${file} cannot be read: ${reason}`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    // Its warnings are for programmers.
    logLevel: 'error',
  })
  const error = document.errors[0]
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0])
    const reason =
      error.code === 'MULTIPLE_DOCS'
        ? 'a file holds one document, and another one begins here'
        : error.message
    throw invalid(`${file}, line ${line}, column ${col}: ${reason}`)
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

/**
 * The value at `path` of the tree as the schema makes it. A text of a variable is converted where the schema wants it
 * so.
 * @param problems takes what is wrong
 * @returns        `null` when anything is
 */
function check(schema: ZodType, tree: ConfigTree, path: readonly PropertyKey[], problems: string[]): unknown {
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
  const issues = outcome.error.issues
    .map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
    .filter((issue) => !tree.isUnresolved(issue.path))
  const known = (place: readonly PropertyKey[]) => keysOf(schema, place.slice(path.length))
  problems.push(...problemsOf(issues as readonly SchemaIssue[], tree, known))
  return null
}

/** The historians whose own settings can be judged: what else is wrong with the section, its schema says. */
function checkHistorians(
  tree: ConfigTree,
  { types, directory }: Pick<LoadOptions, 'types' | 'directory'>,
  isDemo: boolean,
  problems: string[],
): ReadonlyMap<string, HistorianSettings> {
  const settings = new Map<string, HistorianSettings>()
  const owners = new Map<string, string>()
  for (const [name, type] of typesOf(historianSection(tree))) {
    const kind = types.get(type)
    if (kind === undefined) {
      const problem = `${JSON.stringify(type)} is not a kind of historian: ${kindExpected(type, types)}`
      problems.push(`historians.${name}.type: ${problem}`)
      continue
    }
    if (isDemo && name === DEMO_HISTORIAN) {
      problems.push(
        `historians.${name}: the demo plant takes this name: leave --demo out, or name the historian otherwise`,
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
    const options = check(strict(kind.configSchema), tree, place, problems)
    settings.set(name, { type, options: (options ?? {}) as Record<string, unknown> })
    const named = options === null ? null : (kind.ownFolder?.(options) ?? null)
    if (named === null) continue
    const folder = resolve(directory, named)
    const other = owners.get(folder)
    if (other === undefined) owners.set(folder, name)
    else {
      const problem = `${named} is the folder of historians.${other} already: a folder of its own is expected`
      problems.push(`historians.${name}.path: ${problem}`)
    }
  }
  return settings
}

const DEFAULT_HISTORIANS = { local: { type: 'embedded' } }

function historianSection(tree: ConfigTree): unknown {
  return valueAt(tree.values, ['historians']) ?? DEFAULT_HISTORIANS
}

/** Name and type of the members of a section that say theirs. */
function typesOf(section: unknown): readonly (readonly [name: string, type: string])[] {
  if (typeof section !== 'object' || section === null) return []
  return Object.entries(section).flatMap(([name, settings]: [string, unknown]) => {
    const type: unknown = (settings as { readonly type?: unknown } | null)?.type
    return typeof type === 'string' && type !== '' ? [[name, type] as const] : []
  })
}

function checkStore(tree: ConfigTree, types: StoreTypes, problems: string[]): StoreSettings | null {
  const [named] = typesOf({ store: valueAt(tree.values, ['store']) ?? null })
  if (named === undefined) return null
  const [, type] = named
  const kind = types.get(type)
  if (kind === undefined) {
    const problem = `${JSON.stringify(type)} is not a kind of store: ${kindExpected(type, types)}`
    problems.push(`store.type: ${problem}`)
    return null
  }
  delete (valueAt(tree.values, ['store']) as Record<string, unknown>).type
  const options = check(strict(kind.configSchema), tree, ['store'], problems)
  return { type, options: (options ?? {}) as Record<string, unknown> }
}

function kindExpected(type: string, types: HistorianTypes): string {
  const known = [...types.keys()]
  const near = nearestName(type, known)
  return near === null ? `one of ${known.join(', ')} is expected` : `${near} was meant?`
}

function defaultHistorian(tree: ConfigTree, isDemo: boolean, problems: string[]): string | null {
  const section = historianSection(tree)
  const names = typeof section === 'object' && section !== null ? Object.keys(section) : []
  const wanted = valueAt(tree.values, ['defaultHistorian']) ?? null
  if (wanted === null) return names.length === 1 ? names[0]! : null
  // What is no text the schema of the file has reported already.
  if (typeof wanted !== 'string' || names.includes(wanted)) return String(wanted)
  if (isDemo && wanted === DEMO_HISTORIAN) return wanted
  problems.push(
    `defaultHistorian: ${JSON.stringify(wanted)} is not configured: one of ${names.join(', ')} is expected`,
  )
  return null
}

/** A driver that takes an object ignores unknown names by zod's default; a misspelt setting must not go unseen. */
function strict(schema: ZodType): ZodType {
  return schema instanceof z.ZodObject ? schema.strict() : schema
}

/** The names that an object schema allows at a path. */
function keysOf(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let place = unwrap(schema)
  for (const step of path) {
    if (place instanceof z.ZodArray) place = unwrap(place.element)
    else if (place instanceof z.ZodObject) place = unwrap(place.shape[String(step)])
    else return []
  }
  return place instanceof z.ZodObject ? Object.keys(place.shape) : []
}

function unwrap(schema: unknown): unknown {
  let inner = schema
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodPipe
  ) {
    inner = inner instanceof z.ZodPipe ? inner.in : inner.unwrap()
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
