import type { ErrorCode } from '../errors/codes.ts'
import { type Issue, issue, showInput } from '../errors/tidemark-error.ts'
import { isReservedHistorian, parseAddress } from '../grammar/address.ts'
import type { Historian } from '../historian/contract.ts'
import type { HistorianView } from '../historian/registry.ts'
import { acceptedForms, type TimeErrorContext } from '../time/invalid-time.ts'

/** A tag that a request names, whether or not it exists. */
export interface TagName {
  /** As the client sent it. */
  readonly address: string
  readonly historian: string
  readonly tag: string
}

/**
 * What a tag address refers to: a historian that may be queried; a virtual one; a historian that is of no use, for the
 * reason of the issue; or, when the address is none, the issue alone. The issue of a virtual tag is that it cannot be
 * changed.
 */
export type Target =
  | { readonly kind: 'found'; readonly name: TagName; readonly historian: Historian }
  | { readonly kind: 'virtual' | 'unusable'; readonly name: TagName; readonly issue: Issue }
  | { readonly kind: 'malformed'; readonly issue: Issue }

/** Longest historian name that the configuration allows. Longer ones are impossible, and would fill the messages. */
const MAX_HISTORIAN_NAME = 128

/** Finds the historian of an address that is to be changed. */
export function findWritable(address: unknown, historians: HistorianView): Target {
  const target = findReadable(address, historians)
  if (target.kind !== 'found' || target.historian.capabilities.write) return target
  return unusable('HISTORIAN_NOT_WRITABLE', target.name)
}

/** Finds the historian of an address, whether or not it can be written to. */
export function findReadable(address: unknown, historians: HistorianView): Target {
  const parsed = typeof address === 'string' ? parseAddress(address) : null
  if (parsed === null || parsed.historian.length > MAX_HISTORIAN_NAME) {
    return { kind: 'malformed', issue: addressIssue(address) }
  }
  const name = { address: address as string, ...parsed }
  if (isReservedHistorian(name.historian)) {
    return { kind: 'virtual', name, issue: tagIssue('HISTORIAN_NOT_WRITABLE', name) }
  }
  const historian = historians.find(name.historian)
  return historian === null ? unusable('HISTORIAN_NOT_FOUND', name) : { kind: 'found', name, historian }
}

/** The issue of a malformed address; its `tag` is the whole of it when it is a text. */
export function addressIssue(address: unknown): Issue {
  const input = showInput(address)
  const place = typeof address === 'string' ? { tag: address, input } : { input }
  return issue('INVALID_TAG_ADDRESS', { address: input }, place)
}

/** An issue whose sentence names historian and tag and nothing else. */
export function tagIssue(code: ErrorCode, { address, historian, tag }: TagName): Issue {
  return issue(code, { historian, tag, address }, { tag: address })
}

/** The issue of a timestamp, with two accepted forms beside its sentence. */
export function timestampIssue(
  input: unknown,
  name: TagName,
  context: TimeErrorContext,
  index: number,
): Issue {
  return {
    ...inputIssue('INVALID_TIMESTAMP', input, name, index),
    suggestions: acceptedForms(input, context),
  }
}

/** An issue whose sentence names an input too. */
export function inputIssue(
  code: ErrorCode,
  input: unknown,
  { address, historian, tag }: TagName,
  index?: number,
): Issue {
  const shown = showInput(input)
  const place = index === undefined ? {} : { index }
  return issue(code, { historian, tag, input: shown }, { tag: address, ...place, input: shown })
}

function unusable(code: ErrorCode, name: TagName): Target {
  return { kind: 'unusable', name, issue: tagIssue(code, name) }
}
