import { showInput } from '../errors/tidemark-error.ts'
import { nearestName } from '../errors/warnings.ts'
import type { ConfigTree } from './tree.ts'

/** What zod reports, as far as it is used here. */
export interface SchemaIssue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The sentences for what a schema found wrong, one for each place: `limits.deadlineSeconds: 0 is not allowed: a number
 * above 0 is expected`. Values are shown as they were written, so what a variable holds does not show, and a value
 * whose name sounds secret is not shown at all.
 * @param knownKeys names that are allowed at a path, for suggestions; none where they depend on other settings
 */
export function problemsOf(
  issues: readonly SchemaIssue[],
  tree: ConfigTree,
  knownKeys: (path: readonly PropertyKey[]) => readonly string[],
): readonly string[] {
  const problems: string[] = []
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys ?? []) problems.push(unknownKey(issue.path, key, knownKeys(issue.path)))
    } else {
      problems.push(wrongValue(issue, tree))
    }
  }
  return [...new Set(problems)]
}

function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): string {
  const sentence = `${showPath([...path, key])}: this name is not known`
  if (known.length === 0) return sentence
  const near = nearestName(key, known)
  return `${sentence}: ${near === null ? `one of ${known.join(', ')} is expected` : `${near} was meant?`}`
}

function wrongValue(issue: SchemaIssue, tree: ConfigTree): string {
  const where = tree.originOf(issue.path) ?? showPath(issue.path)
  if (issue.params?.isKey === true) return `${where}: this name is not allowed: ${issue.message}`
  const written = tree.writtenAt(issue.path)
  const expected = expectation(issue.message)
  if (written === undefined) return `${where}: a value is missing: ${expected}`
  const shown = isSecret(issue.path) ? 'this value' : show(written)
  return `${where}: ${shown} is not allowed: ${expected}`
}

function expectation(message: string): string {
  // What zod says of an object, by its own words.
  if (message.startsWith('Invalid input: expected object')) return 'names with their values are expected'
  // Texts of drivers' schemas that came with zod are whole sentences already.
  return /^(Invalid|Too|Unrecognized)\b/.test(message) ? message : `${message} is expected`
}

function show(written: unknown): string {
  const shown = typeof written === 'string' ? JSON.stringify(showInput(written)) : showInput(written)
  // A password that stands in a URL, wherever it does.
  return shown.replace(/:\/\/[^/@\s"]*@/g, '://...@')
}

function isSecret(path: readonly PropertyKey[]): boolean {
  return path.some((step) => /pass|secret|token|credential|apikey|^headers$|^key$/i.test(String(step)))
}

/** `historians.plant.type`, `server.corsOrigins[1]`; the whole file is `the configuration`. */
export function showPath(path: readonly PropertyKey[]): string {
  let shown = ''
  for (const step of path) {
    if (typeof step === 'number') shown += `[${step}]`
    else shown += `${shown === '' ? '' : '.'}${showInput(String(step))}`
  }
  return shown === '' ? 'the configuration' : shown
}
