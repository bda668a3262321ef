import { ERRORS } from '../src/errors/codes.ts'
import { statusOfKind } from '../src/http/error-status.ts'

/** docs/errors.md, written from the table of error codes. */
export function errorReference(): string {
  const rows = Object.entries(ERRORS).map(([code, { kind, text, fix }]) => {
    const cells = [`\`${code}\``, String(statusOfKind(kind)), text, fix]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')).join(' | ')} |`
  })
  return `# Error codes

Generated from src/errors/codes.ts by \`npm run generate\`. A code is stable: it is never reused for something else.
Clients branch on \`code\` in \`issues\`, people read \`message\`. The status is that of a request which fails with this error as a
whole; inside a multi call, a metadata call or a write it stands with its label, entry or point, and the status is the
call's own (see [http.md](http.md)).

| code | status | sentence | what to do |
|---|---|---|---|
${rows.join('\n')}
`
}
