import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calculationReference } from './calculation-reference.ts'
import { errorReference } from './error-reference.ts'
import { limitReference } from './limit-reference.ts'
import { requestReference } from './request-reference.ts'
import { wrapProse } from './wrap-prose.ts'

const root = join(import.meta.dirname, '..')

/** Every generated page with the text that it should have. */
export const GENERATED_PAGES: readonly (readonly [path: string, text: string])[] = [
  ['docs/errors.md', wrapProse(errorReference())],
  ['docs/limits.md', wrapProse(limitReference())],
  ['docs/calculations.md', wrapProse(calculationReference())],
  ['docs/multi.md', withSection('docs/multi.md', requestReference())],
]

/** The generated pages whose text is no longer what the code says. */
export function outdatedPages(): readonly string[] {
  return GENERATED_PAGES.filter(([path, text]) => readPage(path) !== text).map(([path]) => path)
}

/** A page that is written by hand but for what stands between two lines. */
function withSection(path: string, text: string): string {
  const page = readPage(path) ?? ''
  const begin = '<!-- written by `npm run generate`, from src/multi/requests -->\n\n'
  const end = '\n<!-- by hand again -->\n'
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${path} has no section to be generated`)
  return page.slice(0, before + begin.length) + text + page.slice(after)
}

function readPage(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return null
  }
}

if (import.meta.main) {
  for (const [path, text] of GENERATED_PAGES) writeFileSync(join(root, path), text)
  console.log(`wrote ${GENERATED_PAGES.map(([path]) => path).join(', ')}`)
}
