import { FIXED_LIMITS } from '../errors/limits.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { formatAddress, isReservedHistorian } from '../grammar/address.ts'
import { MAX_CALL_DEPTH } from '../grammar/parser.ts'
import type { Argument, CallNode, TagNode, TagTree } from '../grammar/tree.ts'
import { withTags } from '../grammar/visit.ts'
import { ALIASES, isAliases } from '../historian/visible-aliases.ts'
import type { AliasReader } from './store.ts'

/** Bound of a chain of aliases that refer to each other. */
export const MAX_ALIAS_CHAIN: number = FIXED_LIMITS.aliasChain.limit
/** Tags and arguments of a tree after its aliases were replaced: more than fit into a calculation without aliases. */
export const MAX_TREE_NODES = 10_000
const TOO_MANY_NODES = `more than ${MAX_TREE_NODES} tags and arguments`
/** The same for all trees that are expanded together: a short request must not become a large one many times over. */
export const MAX_CALL_NODES = 200_000

export interface ExpanderOptions {
  readonly aliases: Pick<AliasReader, 'get'>
  /** Reads the address of an alias. Throws as parseTag does. */
  readonly parse: (address: string) => TagTree
  /** Whether the caller sees a historian; `null` for one who sees all, for whom nothing is hidden. */
  readonly sees: ((historian: string) => boolean) | null
}

/** A tree in which aliases were replaced, as far as they lead anywhere. */
interface Expanded {
  readonly tree: TagTree
  readonly nodes: number
  /** Calls inside each other. */
  readonly depth: number
  /** Whether everything in it exists for the caller, as far as aliases and historians go. */
  readonly isVisible: boolean
}

/**
 * Replaces aliases in trees of one call by what they refer to. A dangling alias stays where it is, with its error in
 * `unresolved`: an operator that needs its values fails with it, and IFTAGEXISTS does not. Replaced subtrees are
 * shared, so memory grows with the aliases, not with how often they occur.
 */
export class AliasExpander {
  /** By address as it stands in the tree. */
  readonly unresolved = new Map<string, TidemarkError>()
  readonly #options: ExpanderOptions
  readonly #done = new Map<string, Expanded | TidemarkError>()
  #nodesLeft = MAX_CALL_NODES
  /** Of the trees that were read for the alias that is expanded now. */
  #nodesRead = 0

  constructor(options: ExpanderOptions) {
    this.#options = options
  }

  /**
   * The tree of a request; the same object when it has no alias. Synchronous, and bounded: once it has too many nodes
   * no further alias is read.
   */
  expand(tree: TagTree): TagTree {
    let nodes = 0
    const expanded = this.#walk(tree, (alias) => {
      if (nodes > MAX_TREE_NODES) return limitError(alias.name, TOO_MANY_NODES)
      const found = this.#outermost(alias)
      if (!(found instanceof TidemarkError)) nodes += found.nodes
      return found
    })
    const excess = nodes > MAX_TREE_NODES ? TOO_MANY_NODES : excessOf(expanded)
    if (excess === null) return expanded.tree
    // Together with what stands around it an alias can lead too far although each alone does not.
    return this.#walk(tree, (alias) => limitError(alias.name, excess)).tree
  }

  /**
   * What an alias of this name refers to.
   * @returns why it leads nowhere: TAG_NOT_FOUND (also when the caller may not see it), ALIAS_CYCLE, ALIAS_LIMIT, or
   *          the error of its address
   */
  lookUp(name: string): TagTree | TidemarkError {
    const found = this.#visible(name)
    return found instanceof TidemarkError ? found : found.tree
  }

  #outermost(alias: TagNode): Expanded | TidemarkError {
    const limit = () =>
      limitError(alias.name, `more than ${MAX_CALL_NODES} tags and arguments in one request`)
    if (this.#nodesLeft < 0) return limit()
    const found = this.#visible(alias.name)
    if (found instanceof TidemarkError) {
      this.#nodesLeft -= this.#nodesRead
      return found
    }
    this.#nodesLeft -= found.nodes
    return this.#nodesLeft >= 0 ? found : limit()
  }

  #visible(name: string): Expanded | TidemarkError {
    let found = this.#done.get(name)
    this.#nodesRead = 0
    if (found === undefined) {
      try {
        found = this.#alias(name, [])
      } catch (error) {
        if (!(error instanceof ExpansionError)) throw error
        found = error.reason
      }
      this.#done.set(name, found)
    }
    if (this.#options.sees === null) return found
    return found instanceof TidemarkError || !found.isVisible ? missing(name) : found
  }

  /**
   * An alias that others refer to.
   * @param path of aliases that refer to this one
   * @throws ExpansionError for an error of the whole path, not of this alias alone
   */
  #alias(name: string, path: readonly string[]): Expanded | TidemarkError {
    const done = this.#done.get(name)
    if (done !== undefined) return done
    if (path.includes(name)) throw new ExpansionError(cycleError([...path.slice(path.indexOf(name)), name]))
    if (path.length >= MAX_ALIAS_CHAIN) {
      const reason = `more than ${MAX_ALIAS_CHAIN} aliases one after the other`
      throw new ExpansionError(limitError(path[0]!, reason))
    }
    const made = this.#read(name, [...path, name])
    this.#done.set(name, made)
    return made
  }

  #read(name: string, path: readonly string[]): Expanded | TidemarkError {
    const alias = this.#options.aliases.get(name)
    if (alias === null) return missing(name)
    let tree: TagTree
    try {
      tree = this.#options.parse(alias.tag)
    } catch (error) {
      if (error instanceof TidemarkError) return error
      throw error
    }
    this.#nodesRead += nodesOf(tree)
    // What it leads to has at least as many: ends here, so that no alias holds up the event loop.
    if (this.#nodesRead > MAX_TREE_NODES) throw new ExpansionError(limitError(path[0]!, TOO_MANY_NODES))
    const own = withTags(tree, (tag) => (isAliases(tag.historian) ? undefined : { alias: name }))
    const expanded = this.#walk(own, (inner) => this.#alias(inner.name, path))
    const excess = excessOf(expanded)
    if (excess !== null) throw new ExpansionError(limitError(path[0]!, excess))
    return expanded
  }

  /** Replaces the aliases of one tree. */
  #walk(tree: TagTree, resolve: (alias: TagNode) => Expanded | TidemarkError): Expanded {
    return tree.kind === 'call' ? this.#walkCall(tree, resolve) : this.#walkTag(tree, resolve)
  }

  #walkTag(tag: TagNode, resolve: (alias: TagNode) => Expanded | TidemarkError): Expanded {
    const { sees } = this.#options
    if (!isAliases(tag.historian)) {
      const isVisible = sees === null || isReservedHistorian(tag.historian) || sees(tag.historian)
      return { tree: tag, nodes: 1, depth: 0, isVisible }
    }
    const found = resolve(tag)
    if (!(found instanceof TidemarkError)) return found
    // The error of an alias that a caller may not see is not shown to that caller.
    const reason = sees === null || found.code === 'ALIAS_LIMIT' ? found : missing(tag.name)
    this.unresolved.set(formatAddress(tag.historian, tag.name), reason)
    return { tree: tag, nodes: 1, depth: 0, isVisible: false }
  }

  #walkCall(call: CallNode, resolve: (alias: TagNode) => Expanded | TidemarkError): Expanded {
    let nodes = 1
    let depth = 0
    let isVisible = true
    let isSame = true
    const args: readonly Argument[] = call.args.map((argument) => {
      nodes++
      if (argument.kind !== 'series') return argument
      const inner = this.#walk(argument.tree, resolve)
      nodes += inner.nodes
      depth = Math.max(depth, inner.depth)
      isVisible &&= inner.isVisible
      if (inner.tree === argument.tree) return argument
      isSame = false
      return { ...argument, tree: inner.tree }
    })
    return { tree: isSame ? call : { ...call, args }, nodes, depth: depth + 1, isVisible }
  }
}

/** Ends the expansion of the alias that a path began with. */
class ExpansionError extends Error {
  readonly reason: TidemarkError

  constructor(reason: TidemarkError) {
    super(reason.message)
    this.reason = reason
  }
}

/** What a tree has too much of; `null` when it may be evaluated. */
function excessOf({ nodes, depth }: Expanded): string | null {
  if (depth > MAX_CALL_DEPTH) return `more than ${MAX_CALL_DEPTH} calls inside each other`
  return nodes > MAX_TREE_NODES ? TOO_MANY_NODES : null
}

/** Tags, calls and arguments of a tree as it is. */
function nodesOf(tree: TagTree): number {
  if (tree.kind === 'tag') return 1
  return tree.args.reduce((sum, argument) => {
    return sum + 1 + (argument.kind === 'series' ? nodesOf(argument.tree) : 0)
  }, 1)
}

function missing(name: string): TidemarkError {
  return new TidemarkError('TAG_NOT_FOUND', { historian: ALIASES, tag: name })
}

function limitError(name: string, reason: string): TidemarkError {
  return new TidemarkError('ALIAS_LIMIT', { name, reason })
}

/** @param path from an alias back to itself */
function cycleError(path: readonly string[]): TidemarkError {
  const shown = path.map((name) => formatAddress(ALIASES, name)).join(' > ')
  return new TidemarkError('ALIAS_CYCLE', { name: path[0]!, path: shown })
}
