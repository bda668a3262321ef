import type { FunctionSignature, Parameter } from '../grammar/tree.ts'
import type { BoundArguments } from './bound-arguments.ts'
import type { Series, SeriesContext } from './series.ts'

/**
 * Everything that is known of a function, in one place: the parser's signature, its evaluation and planning (both are
 * its series'), its documentation, and examples that run as tests.
 */
export interface FunctionDefinition extends FunctionSignature {
  /** One sentence for the reference. */
  readonly summary: string
  /** What a null input does: 'propagate' makes the result null, otherwise a sentence about it. */
  readonly nulls: string
  /** What it costs in points of the historians, in words; the planner asks the series itself. */
  readonly cost: string
  /** Calculations over constants with their value, at any time unless `at` says when, in zone UTC unless `zone` does. */
  readonly examples: readonly Example[]
  /** Where its rules are written down. */
  readonly source: string
  /** The series of one call of the function. @param name the same only for equal calls in equal contexts */
  readonly build: (args: BoundArguments, context: SeriesContext, name: string) => Series
}

export interface Example {
  readonly calculation: string
  /** `null` where it has no value. */
  readonly value: number | null
  /** ISO 8601. */
  readonly at?: string
  readonly zone?: string
}

/** Gives a definition its types; does nothing else. */
export function defineFunction(definition: FunctionDefinition): FunctionDefinition {
  return definition
}

/** A series: a tag or a calculation. */
export function seriesParameter(name: string): Parameter {
  return { name, kind: 'series' }
}

/** One or more series; only as the last parameter. */
export function seriesListParameter(name: string): Parameter {
  return { name, kind: 'series', repeat: true }
}
