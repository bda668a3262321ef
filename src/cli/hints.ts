import type { MultiBody } from './access.ts'

type Issue = NonNullable<MultiBody['issues']>[number]

/** Sentences of an answer with what to do next, where its issues or the command line know it. */
export function withHints(errors: readonly string[], issues: MultiBody['issues'] = []): readonly string[] {
  const byMessage = new Map(issues.map((issue) => [issue.message, issue]))
  return errors.map((error) => {
    const issue = byMessage.get(error)
    return issue === undefined ? error : error + hintOf(issue)
  })
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
