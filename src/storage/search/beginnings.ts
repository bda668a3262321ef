import type { TextOrder } from '../catalog/text-order.ts'
import { caseVariants } from './case-variants.ts'

/**
 * Places of the texts that begin so in any case, [from, to) each, in the order of the texts: it goes from character to
 * character through those of its cases that stand in any text.
 * @param folded  case-folded
 */
export function* placesOfBeginning(
  order: TextOrder,
  folded: string,
): Generator<readonly [from: number, to: number], void> {
  const characters = [...folded]
  const visit = function* (
    beginning: string,
    index: number,
    places: readonly [number, number],
  ): Generator<readonly [from: number, to: number], void> {
    if (index === characters.length) {
      yield places
      return
    }
    for (const character of caseVariants(characters[index]!)) {
      const text = beginning + character
      const found = order.withBeginning({ text, utf8: Buffer.from(text) }, places)
      if (found[0] < found[1]) yield* visit(text, index + 1, found)
    }
  }
  yield* visit('', 0, [0, order.sorted.length])
}
