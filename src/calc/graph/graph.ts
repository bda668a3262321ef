import { FIXED_LIMITS } from '../../errors/limits.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { printArgument, printTag } from '../../grammar/print.ts'
import type { CallNode, TagNode, TagTree } from '../../grammar/tree.ts'
import { WideMap } from '../../scheduling/wide-map.ts'
import { BoundArguments } from '../functions/bound-arguments.ts'
import { findFunction } from '../functions/index.ts'
import { StoredLeaf } from '../leaves/stored.ts'
import { isVirtual, virtualLeaf } from '../virtual/historians.ts'
import type { Operator, OperatorContext } from './operator.ts'
import type { StoredTag } from './point-source.ts'
import { reachOf } from './reach.ts'

/** Contexts that one label may have: parts of an expression that are read at different ranges. */
export const MAX_CONTEXTS: number = FIXED_LIMITS.contexts.limit

/**
 * What a function counts of the budget of evaluated values beside its values: it takes some 3 kB until the call ends,
 * so that 80,000 of them end it.
 */
const FUNCTION_VALUES = 1_250

/**
 * The operators of one call. Equal expressions in equal contexts are one operator, across all labels, so that what
 * occurs twice is read and evaluated once. The context holds the range only where the expression depends on it.
 */
export class Graph {
  readonly #resolve: (tag: TagNode) => StoredTag
  readonly #made = new WideMap<Operator>()
  /** Leaves of stored tags by context, and by the number of their tag. */
  readonly #leaves = new Map<string, Operator[]>()
  /** Of calculations alone: a weak map of very many tags would be gone through by every collection of garbage. */
  readonly #names = new WeakMap<TagTree, ExpressionName>()
  /** Of calculations inside of others, by their texts. */
  readonly #numbers = new Map<string, number>()

  /** @param resolve looks up a stored tag; throws TAG_NOT_FOUND or HISTORIAN_NOT_FOUND */
  constructor(resolve: (tag: TagNode) => StoredTag) {
    this.#resolve = resolve
  }

  /** The operator of a label's tag. Fetches nothing. Throws the error of an invalid tag, and LIMIT_CONTEXTS. */
  build(tree: TagTree, context: OperatorContext): Operator {
    return this.#build(tree, context, new Set())
  }

  #build(tree: TagTree, context: OperatorContext, contexts: Set<string>): Operator {
    const isStored = tree.kind === 'tag' && !isVirtual(tree.historian)
    const { text, dependsOnRange } = isStored ? STORED : this.#nameOf(tree)
    const inContext = contextName(context, dependsOnRange)
    contexts.add(inContext)
    if (contexts.size > MAX_CONTEXTS) throw new TidemarkError('LIMIT_CONTEXTS', { limit: MAX_CONTEXTS })
    if (isStored) return this.#leaf(this.#resolve(tree), inContext, context)
    const name = `${inContext}\0${text}`
    let operator = this.#made.get(name)
    if (operator === undefined) {
      operator =
        tree.kind === 'call'
          ? this.#call(tree, context, contexts)
          : virtualLeaf(tree.historian, tree.name, context)
      if (operator.extrapolationLimits.length > MAX_CONTEXTS)
        throw new TidemarkError('LIMIT_CONTEXTS', { limit: MAX_CONTEXTS })
      this.#made.set(name, operator)
    }
    return operator
  }

  #call(call: CallNode, context: OperatorContext, contexts: Set<string>): Operator {
    const definition = findFunction(call.name)
    if (definition === null) throw new TidemarkError('BUG', { what: `${call.name} is a function` })
    context.evaluation.charge(FUNCTION_VALUES)
    const build = (tree: TagTree, inner = context): Operator => this.#build(tree, inner, contexts)
    return definition.build(new BoundArguments(call, definition, build), context)
  }

  #leaf(tag: StoredTag, inContext: string, context: OperatorContext): Operator {
    const leaves = this.#leaves.getOrInsertComputed(inContext, () => [])
    leaves[tag.number] ??= new StoredLeaf(tag, context)
    return leaves[tag.number]!
  }

  #nameOf(tree: TagTree): ExpressionName {
    if (tree.kind === 'tag') return { text: printTag(tree), dependsOnRange: null }
    let name = this.#names.get(tree)
    if (name === undefined) {
      name = this.#nameOfCall(tree)
      this.#names.set(tree, name)
    }
    return name
  }

  /** Calculations inside of it stand there by a number: their texts would be repeated on each level around them. */
  #nameOfCall({ name, args }: CallNode): ExpressionName {
    const parts: string[] = []
    let dependence = findFunction(name)?.dependsOnRange ?? null
    for (const arg of args) {
      if (arg.kind !== 'series' || arg.tree.kind === 'tag') {
        parts.push(arg.kind === 'broken' ? `?${arg.text}` : printArgument(arg))
        continue
      }
      const inner = this.#nameOf(arg.tree)
      if (dependence !== 'reach') dependence = inner.dependsOnRange ?? dependence
      parts.push(`#${this.#numbers.getOrInsert(inner.text, this.#numbers.size)}`)
    }
    return { text: `${name}(${parts.join(', ')})`, dependsOnRange: dependence }
  }
}

/** Stored tags need no text. */
const STORED: ExpressionName = { text: '', dependsOnRange: null }

interface ExpressionName {
  readonly text: string
  readonly dependsOnRange: RangeDependence
}

/** What the values depend on beside the time: nothing, the request's range, or also what is read beyond it. */
type RangeDependence = 'range' | 'reach' | null

/** What the values of equal expressions can differ by within a call. */
function contextName(context: OperatorContext, dependence: RangeDependence): string {
  const { now, zone, range, spacingUs, maxGapUs } = context
  const everywhere = `${now} ${zone.id} ${maxGapUs ?? ''}`
  if (dependence === null) return everywhere
  const inRange = `${everywhere} ${range.from} ${range.to} ${spacingUs ?? ''}`
  if (dependence === 'range') return inRange
  const { from, to } = reachOf(context)
  return from === range.from && to === range.to ? inRange : `${inRange} ${from} ${to}`
}
