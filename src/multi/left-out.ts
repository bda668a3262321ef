import { leftOutSentence } from '../errors/left-out.ts'
import type { Warnings } from '../errors/warnings.ts'
import { formatInstant } from '../time/format.ts'
import type { Instant } from '../time/instant.ts'
import type { ExecutedLabel } from './execute.ts'

/**
 * What the labels of an answer leave out because of damage: their sentences, and the errors that say why, for the log.
 */
export function warnOfLeftOut(results: readonly ExecutedLabel[], warnings: Warnings): readonly unknown[] {
  const causes: unknown[] = []
  for (const { parsed, result } of results) {
    if (result.kind !== 'raw' || result.leftOut === undefined) continue
    const { tree, address, zone } = parsed
    const tag = tree?.kind === 'tag' ? `${tree.historian}/${tree.name}` : address
    for (const { from, to } of result.leftOut.missing) {
      const last = formatInstant((to - 1) as Instant, zone)
      warnings.addDamage(leftOutSentence(tag, formatInstant(from as Instant, zone), last))
    }
    causes.push(result.leftOut.cause)
  }
  return causes
}
