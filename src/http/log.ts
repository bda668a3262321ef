import { type DestinationStream, type Logger, pino } from 'pino'
import { TidemarkError } from '../errors/tidemark-error.ts'

/**
 * The program's logger: one JSON object per line, ISO 8601 times, levels by name.
 *
 * Nothing that is logged should hold a secret, since the key is taken out of a request before anything else sees it.
 * The two nets here are for the day when something does: fields named like a key are blanked, and `apikey=...` is cut
 * out of any line.
 * @param destination standard output when left out
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths: SECRET_FIELDS, censor: '[redacted]' },
    hooks: { streamWrite: withoutKeys },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

const SECRET_FIELDS = ['apikey', 'apiKey', '*.apikey', '*.apiKey', 'headers', '*.headers', '*.*.headers']

function withoutKeys(line: string): string {
  return /api-?key/i.test(line)
    ? line.replace(/(x?-?api-?key\s*(?:=|:|%3d)\s*)[^&"\s\\,;]+/gi, '$1[redacted]')
    : line
}

/** Causes are followed so far: deep enough for a driver's client, and an end to a circle. */
const MAX_CAUSES = 5

/**
 * An error for the log: type, code, message, stack and causes. Its other fields are left out, because clients of
 * databases keep queries and connection settings there.
 */
export function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, 1000) }
  const code = error instanceof TidemarkError ? error.code : (error as { code?: unknown }).code
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    message: error.message,
    stack: error.stack,
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  }
}
