import { never } from '../../../errors/tidemark-error.ts'
import { type Detail, descriptionOf, type Takes } from '../../../multi/requests/detail.ts'
import type { RequestType } from '../../../multi/requests/request-type.ts'
import { REQUEST_TYPES } from '../../../multi/requests/table.ts'
import { listOf, object, type Schema, shared } from '../../openapi/types.ts'

/** The schema of each request type, by name, made of the table of request types. */
export const REQUESTS: { readonly [name: string]: Schema } = Object.fromEntries(
  Array.from(REQUEST_TYPES.values(), (type) => [requestName(type.name), requestSchema(type)]),
)

/** `RawPointsRequest` of RAW_POINTS. */
export function requestName(type: string): string {
  const words = type.split('_').map((word) => word[0]! + word.slice(1).toLowerCase())
  return `${words.join('')}Request`
}

function requestSchema({ name, details }: RequestType): Schema {
  const schema = detailsSchema(details)
  // A request without details is answered where none of them is needed, whatever else is there.
  const isOptional = !details.some(({ isNeeded }) => isNeeded)
  return object(
    {
      type: { type: 'string', const: name },
      tag: {
        type: 'string',
        description: '`<historian_name>/<tag_name>`, or a calculation such as `calc/ADD(plant/A, plant/B)`.',
      },
      details: isOptional ? orNull(schema) : schema,
    },
    isOptional ? ['type', 'tag'] : ['type', 'tag', 'details'],
  )
}

function detailsSchema(details: readonly Detail[]): Schema {
  const properties = details.map((detail) => [detail.name, detailSchema(detail)] as const)
  return object(
    Object.fromEntries(properties),
    details.filter(isAlwaysNeeded).map(({ name }) => name),
  )
}

/**
 * A detail as the document describes it. Its default is in the description alone: clients that send what `default` says
 * would send `maxPoints` beside `last`, which is an error.
 */
function detailSchema(detail: Detail): Schema {
  const { takes } = detail.type
  const isNullable = !isAlwaysNeeded(detail)
  const description = descriptionOf(detail)
  if (takes.kind === 'time') return { ...shared(isNullable ? 'OptionalTimestamp' : 'Timestamp'), description }
  const schema = valueSchema(takes)
  return { ...(isNullable ? orNull(schema) : schema), description }
}

function isAlwaysNeeded({ isNeeded, unless }: Detail): boolean {
  return isNeeded && unless.length === 0
}

/** What a detail takes, but for null. */
function valueSchema(takes: Takes): Schema {
  switch (takes.kind) {
    case 'time':
      return shared('Timestamp')
    case 'flag':
      return { type: 'boolean' }
    case 'text':
      return { type: 'string' }
    case 'count':
      return { type: 'integer', minimum: 1, ...(takes.most !== undefined && { maximum: takes.most }) }
    case 'word':
      return { type: 'string', enum: takes.words }
    case 'words':
      return { ...listOf({ type: 'string', enum: takes.words }), minItems: 1 }
    case 'numbers':
      return { ...listOf({ type: 'number' }), minItems: 1, maxItems: takes.most }
    case 'duration':
      return { type: ['string', 'number'], ...(takes.example !== undefined && { examples: [takes.example] }) }
    case 'object':
      return detailsSchema(takes.details)
    default:
      return never(takes)
  }
}

/** The same, or null, which counts as left out. */
function orNull(schema: Schema): Schema {
  const types = [schema.type].flat()
  const words = schema.enum as readonly unknown[] | undefined
  return { ...schema, type: [...types, 'null'], ...(words !== undefined && { enum: [...words, null] }) }
}
