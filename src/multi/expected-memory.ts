import { operatorsBelow } from '../calc/graph/estimate.ts'
import type { PlannedLabel } from './plan.ts'

const BYTES_OF_VALUE = 8
/** Of a raw point and of what an operator makes of it: a vertex of its signal, a running sum. Measured, about. */
const BYTES_OF_VERTEX = 80
/** An evaluation keeps the chunks of its operators for later reads, up to about so many raw points. */
const MOST_VERTICES = 4_000_000
/**
 * Functions inside each other that do not fit together read many ranges on each level, from instants that differ; from
 * so many levels on each is counted with what it then keeps of them. Measured, about.
 */
const FEW_LEVELS = 16
const BYTES_OF_LEVEL = 2_000_000

/** Of an operator, with what it was asked for: promises above all. Measured, about. */
const BYTES_OF_OPERATOR = 2_000

type Expected = Pick<PlannedLabel, 'operator' | 'other' | 'size' | 'reads' | 'generated'>

/**
 * What evaluation of a label is expected to hold: its columns at the times asked for, the raw points of what it reads
 * in each operator, which keeps them for others that read the same range, the operators themselves, and the ranges of
 * very deep calculations.
 */
export function expectedBytes({ operator, other, size, reads, generated }: Expected): number {
  const roots = other === null ? [operator] : [operator, other]
  const width = roots.reduce((sum, root) => sum + root.width, 0)
  const points = reads.reduce((sum, read) => sum + read.points, generated)
  const operators = operatorsBelow(roots)
  const varying = operators.filter(({ varies }) => varies !== 'nothing').length
  const vertices = Math.min(MOST_VERTICES, points * varying)
  const levels = roots.reduce((most, root) => Math.max(most, root.levels), FEW_LEVELS) - FEW_LEVELS
  const own = BYTES_OF_OPERATOR * operators.length + BYTES_OF_LEVEL * levels
  return BYTES_OF_VALUE * size.points * (width + 1) + BYTES_OF_VERTEX * vertices + own
}
