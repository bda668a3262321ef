import type { CallContext, TagMetadata } from '../../historian/contract.ts'

/** Where it stands which tags there are, and what they are. */
export interface TagSource {
  /** Metadata of each named tag, `null` for one that this source does not know; asked anew each time. */
  find(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]>
  /** Gives every tag to `take`. */
  list(take: (name: string, metadata: TagMetadata) => void, context: CallContext): Promise<void>
}

export const NO_METADATA: TagMetadata = { description: null, units: null, stepped: false }
