import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parametersWith } from '../../grammar/parameters.ts'
import type { Argument, CallNode, FunctionSignature, TagTree } from '../../grammar/tree.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'

type ArgumentOf<Kind extends Argument['kind']> = Extract<Argument, { readonly kind: Kind }>

/** The arguments of one call by the names of their parameters. Operators are built lazily. */
export class BoundArguments {
  readonly #call: CallNode
  readonly #signature: FunctionSignature
  readonly #build: (tree: TagTree, context?: OperatorContext) => Operator

  /** @param build makes the operator of an argument, in the call's own context unless another is given */
  constructor(
    call: CallNode,
    signature: FunctionSignature,
    build: (tree: TagTree, context?: OperatorContext) => Operator,
  ) {
    this.#call = call
    this.#signature = signature
    this.#build = build
  }

  /**
   * The operator of a series parameter; a function that reads its input elsewhere in time gives a context with that
   * range.
   */
  series(name: string, context?: OperatorContext): Operator {
    return this.#build(this.get(name, 'series').tree, context)
  }

  /** The operator of a series parameter that repeats, at least one. */
  seriesList(name: string, context?: OperatorContext): readonly Operator[] {
    return this.#call.args
      .slice(this.#indexOf(name))
      .map((argument) => this.#build(this.#ofKind(argument, name, 'series').tree, context))
  }

  /** Whether the argument of a parameter that may fail did not parse. */
  isBroken(name: string): boolean {
    return this.#call.args[this.#indexOf(name)]?.kind === 'broken'
  }

  /** The argument of a parameter that must be given. */
  get<Kind extends Argument['kind']>(name: string, kind: Kind): ArgumentOf<Kind> {
    return this.#ofKind(this.#call.args[this.#indexOf(name)], name, kind)
  }

  /** The argument of an optional parameter, `null` when it was left out. */
  find<Kind extends Argument['kind']>(name: string, kind: Kind): ArgumentOf<Kind> | null {
    const argument = this.#call.args[this.#indexOf(name)]
    return argument === undefined ? null : this.#ofKind(argument, name, kind)
  }

  #indexOf(name: string): number {
    return parametersWith(this.#signature, this.#call.args).findIndex((parameter) => parameter.name === name)
  }

  #ofKind<Kind extends Argument['kind']>(
    argument: Argument | undefined,
    name: string,
    kind: Kind,
  ): ArgumentOf<Kind> {
    if (argument?.kind !== kind) {
      throw new TidemarkError('BUG', { what: `argument ${name} of ${this.#signature.name} is a ${kind}` })
    }
    return argument as ArgumentOf<Kind>
  }
}
