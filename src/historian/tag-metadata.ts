import {
  changeOptionalMetadata,
  type OptionalMetadata,
  optionalMetadata,
} from '../series/optional-metadata.ts'
import type { MetadataPut, TagMetadata } from './contract.ts'

interface StoredFields {
  readonly description: string | null
  readonly units: string | null
  /** As it was put: a tag with states is stepped whatever stands here. */
  readonly stepped: boolean
}

/** Metadata of a tag from what is stored of it. */
export function tagMetadata(
  { description, units, stepped }: StoredFields,
  optional: OptionalMetadata,
): TagMetadata {
  // What nearly all tags are: two copies of no fields take longer than all else.
  if (optional.states === undefined && optional.maxGap === undefined) return { description, units, stepped }
  return {
    description,
    units,
    stepped: stepped || optional.states !== undefined,
    ...optionalMetadata(optional),
  }
}

/** Metadata of a tag after a change. @param before `null` for a new tag */
export function metadataAfter(before: OptionalMetadata | null, put: MetadataPut): TagMetadata {
  return tagMetadata(put, changeOptionalMetadata(before ?? {}, put))
}
