import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calculationReference } from './calculation-reference.ts'
import { errorReference } from './error-reference.ts'
import { limitReference } from './limit-reference.ts'
import { wrapProse } from './wrap-prose.ts'

/** Every generated page with the text that it should have. */
export const GENERATED_PAGES: readonly (readonly [path: string, text: string])[] = [
  ['docs/errors.md', wrapProse(errorReference())],
  ['docs/limits.md', wrapProse(limitReference())],
  ['docs/calculations.md', wrapProse(calculationReference())],
]

const root = join(import.meta.dirname, '..')

/** The generated pages whose text is no longer what the code says. */
export function outdatedPages(): readonly string[] {
  return GENERATED_PAGES.filter(([path, text]) => readPage(path) !== text).map(([path]) => path)
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
