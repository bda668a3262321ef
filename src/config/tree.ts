import { TidemarkError } from '../errors/tidemark-error.ts'
import { type Environment, substitute } from './environment.ts'

/**
 * The configuration before it is checked: the file with its variables put in, and over it what environment and command
 * line gave. It remembers what was written where, for messages, and which values came as texts from a variable.
 */
export class ConfigTree {
  /** Plain objects, arrays and scalars; for the schema. */
  readonly values: Record<string, unknown>
  readonly #written: unknown
  readonly #texts = new Set<string>()
  readonly #overrides = new Map<string, { readonly origin: string; readonly written: unknown }>()

  /** Variables that are missing or written wrongly, one sentence each. */
  readonly problems: string[] = []
  /** Where they stand: nothing else is known to be wrong there. */
  readonly #unresolved = new Set<string>()

  /** @param written the parsed file */
  constructor(written: Readonly<Record<string, unknown>>, env: Environment) {
    this.#written = written
    this.values = this.#resolve(written, [], env) as Record<string, unknown>
  }

  /**
   * Puts a value over what the file says.
   * @param path   `limits.deadlineSeconds`
   * @param origin how messages name it: `--port`, `TIDEMARK_PORT`
   */
  override(path: string, value: unknown, origin: string): void {
    const steps = path.split('.')
    let place = this.values
    for (const step of steps.slice(0, -1)) {
      const inner = place[step]
      // Something else than an object stands there: the schema is to say so, not we.
      if (inner !== undefined && (typeof inner !== 'object' || inner === null)) return
      place[step] ??= {}
      place = place[step] as Record<string, unknown>
    }
    place[steps.at(-1)!] = value
    this.#overrides.set(path, { origin, written: value })
    if (typeof value === 'string') this.#texts.add(path)
  }

  /** Whether the value is a text from a variable, which stands for a number or a yes or no where one is expected. */
  isText(path: readonly PropertyKey[]): boolean {
    return this.#texts.has(path.join('.'))
  }

  /** Whether the value is of a variable that is missing, so that the schema cannot judge it. */
  isUnresolved(path: readonly PropertyKey[]): boolean {
    return this.#unresolved.has(path.join('.'))
  }

  /** What gave the value, when it was not the file. */
  originOf(path: readonly PropertyKey[]): string | undefined {
    return this.#overrides.get(path.join('.'))?.origin
  }

  /** The value as it was written, variables by their names. */
  writtenAt(path: readonly PropertyKey[]): unknown {
    const override = this.#overrides.get(path.join('.'))
    if (override !== undefined) return override.written
    let place = this.#written
    for (const step of path) {
      if (typeof place !== 'object' || place === null || !Object.hasOwn(place, step)) return undefined
      place = (place as Record<PropertyKey, unknown>)[step]
    }
    return place
  }

  /** Reads the text at a path as the number or the yes or no that it spells; leaves it when it spells none. */
  convert(path: readonly PropertyKey[]): boolean {
    let place: unknown = this.values
    for (const step of path.slice(0, -1)) place = (place as Record<PropertyKey, unknown>)[step]
    const holder = place as Record<PropertyKey, unknown>
    const text = String(holder[path.at(-1)!]).trim()
    if (/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) holder[path.at(-1)!] = Number(text)
    else if (/^(true|yes|on)$/i.test(text)) holder[path.at(-1)!] = true
    else if (/^(false|no|off)$/i.test(text)) holder[path.at(-1)!] = false
    else return false
    return true
  }

  #resolve(value: unknown, path: readonly (string | number)[], env: Environment): unknown {
    if (typeof value === 'string') {
      if (!value.includes('${')) return value
      this.#texts.add(path.join('.'))
      try {
        return substitute(value, path.join('.'), env)
      } catch (error) {
        if (!(error instanceof TidemarkError)) throw error
        this.problems.push(error.message)
        this.#unresolved.add(path.join('.'))
        return value
      }
    }
    if (Array.isArray(value)) return value.map((item, index) => this.#resolve(item, [...path, index], env))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#resolve(item, [...path, key], env)]),
    )
  }
}
