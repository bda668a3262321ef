import type { FunctionSignature } from '../../grammar/tree.ts'
import type { FunctionDefinition } from '../define-function.ts'
import { add } from './add.ts'
import { div } from './div.ts'
import { mul } from './mul.ts'
import { sub } from './sub.ts'
import { totalise } from './totalise.ts'

/** Every function, in the order of the reference. The parser, the planner and the reference all read this table. */
export const FUNCTIONS: readonly FunctionDefinition[] = [add, sub, mul, div, totalise]

const byName: ReadonlyMap<string, FunctionDefinition> = new Map(
  FUNCTIONS.flatMap((definition) =>
    [definition.name, ...definition.aliases].map((name) => [name, definition] as const),
  ),
)

/** The signatures by upper-case name and alias, for the parser. */
export const SIGNATURES: ReadonlyMap<string, FunctionSignature> = byName

/** The function of a canonical name; `null` when there is none. */
export function findFunction(name: string): FunctionDefinition | null {
  return byName.get(name) ?? null
}
