import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Argument, CallNode, FunctionSignature, TagTree } from '../grammar/tree.ts'
import type { Series, SeriesContext } from './series.ts'

type ArgumentOf<Kind extends Argument['kind']> = Extract<Argument, { readonly kind: Kind }>

/** The arguments of one call by the names of their parameters. Series are compiled when they are asked for. */
export class BoundArguments {
  readonly #call: CallNode
  readonly #signature: FunctionSignature
  readonly #compile: (tree: TagTree, context?: SeriesContext) => Series

  /** @param compile makes the series of an argument, in the call's own context unless another is given */
  constructor(
    call: CallNode,
    signature: FunctionSignature,
    compile: (tree: TagTree, context?: SeriesContext) => Series,
  ) {
    this.#call = call
    this.#signature = signature
    this.#compile = compile
  }

  /** The series of a parameter; a function that reads its input elsewhere in time gives a context with that range. */
  series(name: string, context?: SeriesContext): Series {
    return this.#compile(this.get(name, 'series').tree, context)
  }

  /** The series of a parameter that repeats, at least one. */
  seriesList(name: string, context?: SeriesContext): readonly Series[] {
    return this.#call.args
      .slice(this.#indexOf(name))
      .map((argument) => this.#compile(this.#ofKind(argument, name, 'series').tree, context))
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
    return this.#signature.parameters.findIndex((parameter) => parameter.name === name)
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
