import { COMMON } from './schemas.ts'
import { type Content, object, type Parameter, type Schema } from './types.ts'

const maybeText = { type: ['string', 'null'] }

/** The name in the path. */
export const aliasName: Parameter = {
  name: 'name',
  description:
    'Name of the alias, percent-encoded; it may hold slashes. 1 to 512 characters, none of them a control character.',
  schema: { type: 'string', minLength: 1, maxLength: 512 },
  example: 'boiler/efficiency',
}

export const aliasSchema: Schema = object(
  {
    name: { type: 'string' },
    tag: { type: 'string', description: 'Tag address or calculation, as it was written.' },
    description: maybeText,
    units: maybeText,
  },
  ['name', 'tag', 'description', 'units'],
)

export const aliasExample = {
  name: 'boiler/efficiency',
  tag: 'calc/DIV(local/FLOW, local/BIAS)',
  description: 'Steam made of fuel burnt',
  units: 't/t',
}

/** An alias as an answer. */
export const aliasContent: Content = {
  schema: { ...aliasSchema, properties: { ...(aliasSchema.properties as object), ...COMMON } },
  examples: { efficiency: aliasExample },
}
