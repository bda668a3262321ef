import { never } from '../errors/tidemark-error.ts'
import { formatAddress } from './address.ts'
import { needsQuotes, quote } from './lexer.ts'
import type { Argument, TagTree } from './tree.ts'

/**
 * The canonical address of a tree: canonical function names, every tag with its historian, quotes where they are
 * needed. Parsed again with the same options it gives the same tree but for the columns, so equal texts are equal
 * calculations. It can be longer than what was sent, and so longer than the parser accepts.
 */
export function printTag(tree: TagTree): string {
  return tree.kind === 'tag' ? formatAddress(tree.historian, tree.name) : `calc/${printSeries(tree)}`
}

function printSeries(tree: TagTree): string {
  if (tree.kind === 'tag') return printText(formatAddress(tree.historian, tree.name))
  return `${tree.name}(${tree.args.map(printArgument).join(', ')})`
}

/** An argument as it stands between the others. */
export function printArgument(argument: Argument): string {
  switch (argument.kind) {
    case 'series':
      return printSeries(argument.tree)
    case 'duration':
    case 'anchor':
    case 'window':
    case 'window-anchor':
    case 'offset':
    case 'time':
      return printText(argument.text)
    case 'number':
    case 'broken':
      return argument.text
    case 'word':
      return argument.word
    default:
      return never(argument)
  }
}

/** A text as it stands in a calculation, in quotes where it needs them. */
export function printText(text: string): string {
  return needsQuotes(text) ? quote(text) : text
}
