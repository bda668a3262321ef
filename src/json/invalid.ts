import { TidemarkError } from '../errors/tidemark-error.ts'

/** A body that is no JSON. @param reason as it reads behind a colon */
export function invalidJson(reason: string): TidemarkError {
  return new TidemarkError('INVALID_JSON', { reason })
}
