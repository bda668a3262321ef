/**
 * A schema as far as the OpenAPI document uses JSON Schema; another keyword is an error, so that nothing is passed
 * over.
 */
type Schema = { readonly [keyword: string]: unknown }

const ANNOTATIONS = ['description', 'examples', 'default', 'title', 'discriminator']
const KNOWN = [
  ...ANNOTATIONS,
  '$ref',
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'minLength',
  'oneOf',
  'allOf',
  'minimum',
  'maximum',
]

/**
 * What is wrong with a value by a schema; empty when nothing is. Stricter than JSON Schema in one way: a field that an
 * object schema does not name is wrong, because a reference that leaves out fields is not complete.
 */
export function findMismatches(
  value: unknown,
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  at = '$',
): string[] {
  for (const keyword in schema)
    if (!KNOWN.includes(keyword)) return [`${at}: the check does not know ${keyword}`]
  const wrong: string[] = []
  const check = (inner: unknown, innerSchema: unknown, place: string) =>
    findMismatches(inner, innerSchema as Schema, schemas, place)

  if (typeof schema.$ref === 'string') {
    const target = schemas[schema.$ref.replace('#/components/schemas/', '')]
    if (target === undefined) return [`${at}: ${schema.$ref} does not exist`]
    wrong.push(...check(value, target, at))
  }
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(value, type as string))) {
    return [...wrong, `${at}: ${JSON.stringify(value)} is not of type ${schema.type}`]
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    wrong.push(`${at}: ${value} is not in the enum`)
  if ('const' in schema && schema.const !== value) wrong.push(`${at}: ${value} is not ${schema.const}`)
  if (typeof value === 'number') {
    if (typeof schema.minimum === 'number' && value < schema.minimum)
      wrong.push(`${at}: ${value} is too small`)
    if (typeof schema.maximum === 'number' && value > schema.maximum)
      wrong.push(`${at}: ${value} is too large`)
  }
  if (typeof value === 'string' && typeof schema.minLength === 'number' && value.length < schema.minLength)
    wrong.push(`${at}: too short`)
  if (Array.isArray(value)) {
    if (typeof schema.minItems === 'number' && value.length < schema.minItems)
      wrong.push(`${at}: too few items`)
    for (const [index, item] of value.entries()) {
      if (schema.items !== undefined) wrong.push(...check(item, schema.items, `${at}[${index}]`))
    }
  } else if (typeof value === 'object' && value !== null) {
    wrong.push(...objectMismatches(value as Record<string, unknown>, schema, check, at))
  }
  if (Array.isArray(schema.oneOf)) {
    const results = schema.oneOf.map((option) => check(value, option, at))
    const fitting = results.filter((result) => result.length === 0).length
    if (fitting !== 1) wrong.push(`${at}: fits ${fitting} of oneOf: ${results.flat().slice(0, 8).join('; ')}`)
  }
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) wrong.push(...check(value, part, at))
  return wrong
}

function objectMismatches(
  value: Record<string, unknown>,
  schema: Schema,
  check: (inner: unknown, schema: unknown, at: string) => string[],
  at: string,
): string[] {
  const wrong: string[] = []
  const properties = (schema.properties ?? {}) as Record<string, unknown>
  for (const name of (schema.required ?? []) as string[]) {
    if (!Object.hasOwn(value, name)) wrong.push(`${at}: ${name} is missing`)
  }
  for (const [name, inner] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) wrong.push(...check(inner, properties[name], `${at}.${name}`))
    else if (schema.additionalProperties !== undefined)
      wrong.push(...check(inner, schema.additionalProperties, `${at}.${name}`))
    else if (schema.properties !== undefined) wrong.push(`${at}: ${name} is not in the reference`)
  }
  return wrong
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return type === typeOf(value)
  }
}

function typeOf(value: unknown): string {
  return typeof value
}
