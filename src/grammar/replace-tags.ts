import { formatAddress } from './address.ts'
import { isQuote, Lexer } from './lexer.ts'
import { isCalculation } from './parser.ts'
import { printText } from './print.ts'
import type { TagNode, TagTree } from './tree.ts'
import { tagsOf } from './visit.ts'

/**
 * An address in which tags have other addresses; all else stays as it was written.
 * @param source  the address that `tree` was parsed from
 * @param replace the new address of a tag; undefined leaves it as it is
 * @returns       `source` itself where nothing changes
 */
export function replaceTags(
  source: string,
  tree: TagTree,
  replace: (tag: TagNode) => string | undefined,
): string {
  if (!isCalculation(source)) return (tree.kind === 'tag' ? replace(tree) : undefined) ?? source
  let replaced = ''
  let done = 0
  for (const tag of tagsOf(tree)) {
    const address = replace(tag)
    if (address === undefined || address === formatAddress(tag.historian, tag.name)) continue
    const start = tag.column - 1
    replaced += source.slice(done, start) + printText(address)
    done = endOfTag(source, start)
  }
  return replaced + source.slice(done)
}

function endOfTag(source: string, start: number): number {
  const lexer = new Lexer(source, start)
  if (!isQuote(lexer.peek())) return start + lexer.unquoted().length
  lexer.quoted()
  return lexer.at
}
