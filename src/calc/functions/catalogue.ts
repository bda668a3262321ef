import { expectation, usage } from '../../grammar/messages.ts'
import type { Parameter, ParameterKind } from '../../grammar/tree.ts'
import { VIRTUAL_HISTORIANS } from '../virtual/historians.ts'
import type { VirtualTag } from '../virtual/virtual-historian.ts'
import type { Example, FunctionDefinition, Section } from './define.ts'
import { FUNCTIONS } from './index.ts'

/**
 * The functions and virtual historians as plain data, for the reference page and for editors. Whatever is said of them
 * comes from the tables that the parser and the evaluation read.
 */
export interface Catalogue {
  /** In the order of the reference. */
  readonly functions: readonly FunctionEntry[]
  readonly virtualHistorians: readonly VirtualEntry[]
}

export interface FunctionEntry {
  /** Canonical, in upper case; a calculation may write it in any case. */
  readonly name: string
  readonly aliases: readonly string[]
  readonly section: Section
  /** With its parameters: `IFEQUALS(a, b, t, f[, precision])`. */
  readonly usage: string
  readonly parameters: readonly ParameterEntry[]
  /** One sentence. */
  readonly summary: string
  /** More about it in Markdown; empty when the sentence says all. */
  readonly details: string
  /** Each of these is a sentence. */
  readonly nulls: string
  readonly stepped: string
  readonly rawTimes: string
  readonly cost: string
  readonly examples: readonly Example[]
}

export interface ParameterEntry {
  readonly name: string
  readonly kind: ParameterKind
  /** What stands there, in words: `a number such as 5 or -2`. */
  readonly takes: string
  readonly optional: boolean
  /** Takes one or more arguments. */
  readonly repeat: boolean
  /** For kind `word`: what is allowed; otherwise empty. */
  readonly words: readonly string[]
  /** Needed with this word of another parameter, and not there without it; mostly left out. */
  readonly onlyWith?: string
}

export interface VirtualEntry {
  readonly name: string
  readonly summary: string
  readonly tags: readonly VirtualTag[]
  readonly rawTimes: string
  readonly stepped: string
}

/** Aliases are replaced by what they stand for before anything is evaluated, so they are no series of their own. */
const ALIASES: VirtualEntry = {
  name: 'aliases',
  summary: 'Tags and calculations under names that people give them; they can be searched like tags.',
  tags: [
    {
      name: '<name>',
      summary: 'What the alias stands for, wherever a tag may stand.',
      example: 'boiler flow',
    },
  ],
  rawTimes: 'Those of what the alias stands for.',
  stepped: 'When what the alias stands for is.',
}

/** Everything that can stand in a calculation. */
export function catalogue(): Catalogue {
  const virtual = [...VIRTUAL_HISTORIANS].map(([name, { summary, tags, rawTimes, stepped }]) => ({
    name,
    summary,
    tags,
    rawTimes,
    stepped,
  }))
  return { functions: FUNCTIONS.map(describeFunction), virtualHistorians: [...virtual, ALIASES] }
}

function describeFunction(definition: FunctionDefinition): FunctionEntry {
  const { name, aliases, section, summary, details, stepped, rawTimes, cost, examples } = definition
  return {
    name,
    aliases,
    section,
    usage: usage(definition),
    parameters: definition.parameters.map(describeParameter),
    summary,
    details,
    nulls: aboutNulls(definition.nulls),
    stepped,
    rawTimes,
    cost,
    examples,
  }
}

function describeParameter(parameter: Parameter): ParameterEntry {
  const { name, kind, optional, repeat, words, onlyWith } = parameter
  return {
    name,
    kind,
    takes: expectation(parameter),
    optional: optional === true || onlyWith !== undefined,
    repeat: repeat === true,
    words: words ?? [],
    ...(onlyWith === undefined ? {} : { onlyWith }),
  }
}

/** `propagate` and what may follow it, as a sentence. */
function aboutNulls(nulls: string): string {
  const match = /^propagate(?:; (.*))?$/s.exec(nulls)
  if (match === null) return nulls
  return match[1] === undefined ? 'null where any input is.' : `null where any input is; ${match[1]}.`
}
