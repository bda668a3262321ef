import { FIXED_LIMITS } from '../errors/limits.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'

/** Where the lines go: the log of the request. */
interface WarnLog {
  warn(fields: object, message: string): void
}

/** Distinct causes of one call that are logged; the last line says how many failures were beyond. */
const MAX_LOGGED = FIXED_LIMITS.loggedCauses.limit

/**
 * Logs what went wrong in a call: each distinct cause once with the number of failures that it stands for. Equal are
 * errors that are the same object, or have the same code and sentence: a historian out of reach fails thousands of
 * labels with one cause.
 * @param fields of each line, beside `err` and `count`
 */
export function logFailures(
  log: WarnLog,
  failures: readonly unknown[],
  message: string,
  fields: object = {},
): void {
  if (failures.length === 0) return
  const causes = new Map<unknown, { readonly error: unknown; count: number }>()
  let beyond = 0
  for (const error of failures) {
    // An object that was seen is found without a look at its texts.
    const cause = causes.get(error) ?? causes.get(keyOf(error))
    if (cause !== undefined) cause.count++
    else if (causes.size < 2 * MAX_LOGGED) {
      const first = { error, count: 1 }
      causes.set(error, first)
      causes.set(keyOf(error), first)
    } else beyond++
  }
  for (const { error, count } of new Set(causes.values())) log.warn({ ...fields, err: error, count }, message)
  if (beyond > 0) log.warn({ ...fields, count: beyond }, 'further failures of the call are not listed')
}

function keyOf(error: unknown): string {
  if (error instanceof TidemarkError) return `${error.code} ${error.message}`
  return error instanceof Error ? `${error.name} ${error.message}` : String(error)
}
