import { FIXED_LIMITS } from '../errors/limits.ts'
import { type Issue, issue } from '../errors/tidemark-error.ts'
import { formatInstant } from '../time/format.ts'
import type { CallHead } from './call.ts'

/** Labels that have an issue of their own; as in a write, one more issue says how many there are beyond. */
const MOST_ISSUES = FIXED_LIMITS.listedIssues.limit
/** Text is passed on as a chunk at about this length. */
const CHUNK_CHARACTERS = 32_768

/**
 * The answer of a call that failed as a whole, as JSON in chunks: the sentence under every label, written from one text
 * for all labels, and the issues of the first thousand.
 */
export function* failedCallChunks(
  { names, warnings, now, zone }: CallHead,
  { code, message }: Pick<Issue, 'code' | 'message'>,
): Generator<Uint8Array> {
  const sentence = JSON.stringify(message)
  let text = `{"message":${sentence},"results":{},"errors":{`
  let separator = ''
  for (const label of names) {
    text += `${separator}${JSON.stringify(label)}:${sentence}`
    separator = ','
    if (text.length < CHUNK_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  const issues: Issue[] = names.slice(0, MOST_ISSUES).map((label) => ({ code, message, label }))
  const more = names.length - issues.length
  if (more > 0) issues.push(issue('TOO_MANY_ISSUES', { count: more }))
  text += `},"issues":${JSON.stringify(issues)}`
  const sentences = warnings.list()
  if (sentences.length > 0) text += `,"warnings":${JSON.stringify(sentences)}`
  yield Buffer.from(`${text},"now":"${formatInstant(now, zone)}"}`)
}
