import { isObject } from '../../errors/fields.ts'
import type { CallContext, TagMetadata } from '../../historian/contract.ts'
import { errorOfIssue, notUnderstood } from './errors.ts'
import type { CallKind, Instance } from './instance.ts'
import { readMetadata } from './search.ts'

/** Most tags that the interface takes in one request. */
const MOST_TAGS = 100_000

/** Metadata of tags by their addresses there; null for one that does not exist. */
export async function findTags(
  instance: Instance,
  addresses: readonly string[],
  kind: CallKind,
  context: CallContext,
): Promise<readonly (TagMetadata | null)[]> {
  const { historian } = instance
  const found: (TagMetadata | null)[] = []
  for (let start = 0; start < addresses.length; start += MOST_TAGS) {
    const tags = addresses.slice(start, start + MOST_TAGS)
    const body = JSON.stringify({ tags })
    const {
      status,
      body: answer,
      issues,
    } = await instance.read(kind, '/historian/metadata/get', body, context)
    for (const issue of issues) {
      // A name that the interface does not allow is the name of no tag.
      if (issue.code !== 'TAG_NOT_FOUND' && issue.code !== 'INVALID_TAG_ADDRESS')
        throw errorOfIssue(historian, issue)
    }
    const { entries } = answer
    if (status !== 200 || !isObject(entries)) throw notUnderstood(historian, 'it has no entries')
    for (const address of tags) {
      const metadata = Object.hasOwn(entries, address) ? readMetadata(entries[address]) : null
      if (metadata === null && Object.hasOwn(entries, address)) {
        throw notUnderstood(historian, 'the metadata of a tag is none')
      }
      found.push(metadata)
    }
  }
  return found
}
