import { TidemarkError } from '../../errors/tidemark-error.ts'
import { MAX_TEXT_UNITS } from '../../storage/catalog/tag-record.ts'

/** A change of a historian that is configured read-only. Callers ask `capabilities` first. */
export function readOnly(historian: string, operation: string): TidemarkError {
  return new TidemarkError('NOT_SUPPORTED', { historian, operation })
}

/** A description or units that are too long to store. */
export function textTooLong(historian: string, tag: string, field: string): TidemarkError {
  const address = `${historian}/${tag}`
  return new TidemarkError(
    'INVALID_METADATA',
    { field, input: '…', address, expected: `a text of at most ${MAX_TEXT_UNITS} characters` },
    { place: { tag: address } },
  )
}
