import { foldCase } from '../../series/tag-names.ts'

/** No character above folds to another one. */
const LAST_CASED = 0x1ffff

let variants: ReadonlyMap<string, readonly string[]> | null = null

/** All characters that fold to one, in the order of code points; that one alone where no other does. */
export function caseVariants(folded: string): readonly string[] {
  variants ??= allVariants()
  return variants.get(folded) ?? [folded]
}

/** Made when it is asked for first, in some 20 ms. */
function allVariants(): ReadonlyMap<string, readonly string[]> {
  const byFold = new Map<string, string[]>()
  for (let code = 0; code <= LAST_CASED; code++) {
    const character = String.fromCodePoint(code)
    const folded = foldCase(character)
    if (folded === character) continue
    const known = byFold.get(folded)
    if (known === undefined) byFold.set(folded, [character])
    else known.push(character)
  }
  for (const [folded, characters] of byFold) {
    if (foldCase(folded) === folded) characters.push(folded)
    characters.sort((a, b) => a.codePointAt(0)! - b.codePointAt(0)!)
  }
  return byFold
}
