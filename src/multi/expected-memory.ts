import type { Operator } from '../calc/graph/operator.ts'
import type { PlannedLabel } from './plan.ts'

const BYTES_OF_VALUE = 8
/** Of a raw point and of what an operator makes of it: a vertex of its signal, a running sum. Measured, about. */
const BYTES_OF_VERTEX = 80
/** An evaluation keeps the chunks of its operators for later reads, up to about so many raw points. */
const MOST_VERTICES = 4_000_000
/**
 * Functions inside each other that do not fit together read many ranges on each level, from instants that differ; from so
 * many levels on each is counted with what it then keeps of them. Measured, about.
 */
const FEW_LEVELS = 16
const BYTES_OF_LEVEL = 1_500_000

type Expected = Pick<PlannedLabel, 'operator' | 'other' | 'size' | 'reads' | 'generated'>

/**
 * What evaluation of a label is expected to hold: its columns at the times asked for, the raw points of what it reads in
 * each operator, which keeps them for others that read the same range, and the ranges of very deep calculations.
 */
export function expectedBytes({ operator, other, size, reads, generated }: Expected): number {
  const roots = other === null ? [operator] : [operator, other]
  const width = roots.reduce((sum, root) => sum + root.width, 0)
  const points = reads.reduce((sum, read) => sum + read.points, generated)
  const vertices = Math.min(MOST_VERTICES, points * countOperators(roots))
  const levels = roots.reduce((most, root) => Math.max(most, root.levels), FEW_LEVELS) - FEW_LEVELS
  const ofRanges = BYTES_OF_LEVEL * levels
  return BYTES_OF_VALUE * size.points * (width + 1) + BYTES_OF_VERTEX * vertices + ofRanges
}

/** Operators below some and these themselves, each once, without constants. */
function countOperators(roots: readonly Operator[]): number {
  const seen = new Set(roots)
  // A set gives what is added while it is gone through, too.
  for (const { inputs } of seen) for (const input of inputs) if (input.varies !== 'nothing') seen.add(input)
  return seen.size
}
