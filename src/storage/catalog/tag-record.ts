import {
  decodeOptionalMetadata,
  encodeStates,
  type OptionalMetadata,
} from '../../series/optional-metadata.ts'

/** What is stored of a tag besides its points. */
export interface TagRecord extends OptionalMetadata {
  /** Never given to another tag. */
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly units: string | null
  /** As it was put: a tag with `states` is stepped whatever stands here. */
  readonly stepped: boolean
}

/** Longest description or units, in UTF-16 units: tags are in memory. */
export const MAX_TEXT_UNITS = 100_000

/** The highest id of a tag; one more is never given, so that an end of a range can be written. */
export const MAX_TAG_ID = 0xffff_fffe

/** The optional fields as bytes: maxGap, a NUL, and the states as JSON, in UTF-8; empty where none is set. */
export function encodeOptional({ maxGap = '', states }: OptionalMetadata): Buffer {
  return maxGap === '' && states === undefined ? NO_BYTES : Buffer.from(`${maxGap}\0${encodeStates(states)}`)
}

/** Fields that cannot be read are not set. */
export function decodeOptional(bytes: Buffer): OptionalMetadata {
  const [maxGap = '', states = ''] = bytes.toString('utf8').split('\0')
  return decodeOptionalMetadata(maxGap, states)
}

const NO_BYTES = Buffer.alloc(0)
