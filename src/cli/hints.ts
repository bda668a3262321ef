import type { MetadataProblem, MultiBody } from './access.ts'

type Issue = NonNullable<MultiBody['issues']>[number]

/** Sentences of an answer with what to do next, where its issues or the command line know it. */
export function withHints(errors: readonly string[], issues: MultiBody['issues'] = []): readonly string[] {
  const byMessage = new Map(issues.map((issue) => [issue.message, issue]))
  return errors.map((error) => {
    const issue = byMessage.get(error)
    return issue === undefined ? error : error + hintOf(issue)
  })
}

/** The problems of an answer about metadata, with the same hints. */
export function problemsOf(issues: readonly Issue[]): readonly MetadataProblem[] {
  return issues.map((issue) => ({ code: issue.code, sentence: issue.message + hintOf(issue) }))
}

const MAX_ERRORS_SHOWN = 10

/** The first of many errors, and how many more there are. */
export function firstErrors(errors: readonly string[]): readonly string[] {
  const shown = errors.slice(0, MAX_ERRORS_SHOWN)
  if (errors.length > shown.length) shown.push(`and ${errors.length - shown.length} more`)
  return shown
}

/** A sentence with the first of many errors below it. */
export function joinErrors(message: string, errors: readonly string[]): string {
  return errors.length === 0 ? message : `${message}:\n  ${firstErrors(errors).join('\n  ')}`
}

function hintOf({ code, suggestions = [] }: Issue): string {
  const some = suggestions.join(' or ')
  switch (code) {
    case 'TAG_NOT_FOUND':
    case 'HISTORIAN_NOT_FOUND':
      return some === '' ? '' : `; did you mean ${some}?`
    case 'INVALID_TIMESTAMP':
      return some === '' ? '' : `: a time such as ${some} is expected`
    case 'TAG_EXISTS':
      return '; tidemark tags describe changes its metadata'
    case 'RENAME_ALIASES':
      return '; --aliases follow changes them too, --aliases break leaves them behind'
    default:
      return ''
  }
}
