/** A JSON Schema (2020-12) as OpenAPI 3.1 takes it; written by hand, read by people and generators, never enforced. */
export type Schema = { readonly [keyword: string]: unknown }

/** What the reference says of one endpoint; openapi/document.ts adds what follows from the route itself. */
export interface Operation {
  /** Name of the method in generated clients. */
  readonly id: string
  readonly group: Group
  readonly summary: string
  /** Markdown. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly request?: Content
  /** Parts of its bodies that have a name of their own, so that generated clients have a type for each. */
  readonly schemas?: { readonly [name: string]: Schema }
  /** Answers with a shape of their own, by status. */
  readonly answers: { readonly [status: string]: Answer }
  /**
   * Statuses with the general error body, beside the ones that follow from the route (401, 403, 413, 415, 429, 503).
   */
  readonly errors?: readonly number[]
}

export type Group = 'Historians' | 'Tags' | 'Aliases' | 'Points' | 'Corrections' | 'Service'

export interface Parameter {
  readonly name: string
  readonly description: string
  readonly schema: Schema
  readonly example?: unknown
  /** Whether it must be sent; those of the path always. */
  readonly required?: boolean
}

/** A JSON body with named examples, each of which the service accepts or gives as it stands. */
export interface Content {
  readonly schema: Schema
  readonly examples: { readonly [name: string]: unknown }
}

export interface Answer {
  readonly description: string
  /** Of JSON answers. */
  readonly content?: Content
  /** Type of an answer that is not JSON. */
  readonly mediaType?: string
  readonly headers?: { readonly [name: string]: string }
}

/** A reference to a shared schema. */
export function shared(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An object with these fields; those named are always there. */
export function object(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = [],
): Schema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

/** An object whose keys are chosen by somebody: labels, tag addresses. */
export function mapOf(value: Schema, description: string): Schema {
  return { type: 'object', additionalProperties: value, description }
}

export function listOf(items: Schema, description?: string): Schema {
  return { type: 'array', items, ...(description !== undefined && { description }) }
}
