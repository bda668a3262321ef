import type { FunctionSignature, Parameter } from '../../grammar/tree.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'
import type { BoundArguments } from './bound-arguments.ts'

/**
 * Everything that is known of a function, in one place: the parser's signature, its evaluation and its cost (both are
 * its operator's), its documentation, and examples that run as tests.
 */
export interface FunctionDefinition extends FunctionSignature {
  /** Where it stands in the reference. */
  readonly section: Section
  /** One sentence for the reference. */
  readonly summary: string
  /** Rules that one sentence does not hold: paragraphs of Markdown for the reference; empty when there are none. */
  readonly details: string
  /** Where its raw points stand, in a sentence; the planner asks the operator itself. */
  readonly rawTimes: string
  /** Whether its result is held between raw points, in a sentence; the evaluation asks the operator itself. */
  readonly stepped: string
  /** What a null input does: 'propagate' makes the result null, otherwise a sentence about it. */
  readonly nulls: string
  /** What it costs in points of the historians, in words; the planner asks the operator itself. */
  readonly cost: string
  /**
   * Calculations over constants with their value, at any time unless `at` says when, in zone UTC unless `zone` does.
   */
  readonly examples: readonly Example[]
  /** Where its rules are written down. */
  readonly source: string
  /**
   * Set when the values depend on the range of the request, and not on the time alone: on where it begins and ends, or
   * also on how far functions around read beyond it.
   */
  readonly dependsOnRange?: 'range' | 'reach'
  /** The operator of one call of the function. */
  readonly build: BuildFunction
}

/** Makes the operator of a call; fetches nothing. Arguments are built lazily. */
export type BuildFunction = (args: BoundArguments, context: OperatorContext) => Operator

export interface Example {
  readonly calculation: string
  /** `null` where it has no value. */
  readonly value: number | null
  /** ISO 8601. */
  readonly at?: string
  readonly zone?: string
}

/** The sections of the reference, in its order. */
export const SECTIONS = ['arithmetic', 'statistics', 'logic', 'conditioning', 'totals', 'windows'] as const

export type Section = (typeof SECTIONS)[number]

/** What stands in the reference of an elementwise function, when its definition does not say otherwise. */
const ELEMENTWISE = {
  details: '',
  rawTimes: "The union of its inputs' raw timestamps.",
  stepped: 'When all inputs that vary are stepped.',
} as const

type WithDefault = keyof typeof ELEMENTWISE

/** A definition as it is written down: what elementwise functions have in common may be left out. */
export type FunctionEntry = Omit<FunctionDefinition, WithDefault> &
  Partial<Pick<FunctionDefinition, WithDefault>>

/** Makes a definition of what was written down. */
export function defineFunction(entry: FunctionEntry): FunctionDefinition {
  return { ...ELEMENTWISE, ...entry }
}

/** A series: a tag or a calculation. */
export function seriesParameter(name: string): Parameter {
  return { name, kind: 'series' }
}

/** One or more series; only as the last parameter. */
export function seriesListParameter(name: string): Parameter {
  return { name, kind: 'series', repeat: true }
}
