import { FIXED_LIMITS } from '../errors/limits.ts'
import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import type { TimeContext } from '../time/parse.ts'
import { isHistorianName, isTagName, MAX_TAG_NAME, parseAddress } from './address.ts'
import { excerpt, Failure, syntaxError } from './failure.ts'
import { isQuote, isSpace, Lexer } from './lexer.ts'
import { isLiteral, type LiteralParameter, mayBeQuoted, readLiteral } from './literals.ts'
import { description, found, isDuration, leastArguments, mismatch, wordHint, wrongCount } from './messages.ts'
import { nearestName } from './nearest.ts'
import { looksLikeNumber, parseNumber } from './number.ts'
import { parametersWith, parametersWithout } from './parameters.ts'
import type {
  Argument,
  CallNode,
  FunctionSignature,
  Parameter,
  ParameterKind,
  TagNode,
  TagTree,
} from './tree.ts'

/** Longest calculation, in UTF-16 units, `calc/` included. */
export const MAX_CALCULATION_LENGTH: number = FIXED_LIMITS.calculationLength.limit

/** Most calls inside each other, the outermost one counted. */
export const MAX_CALL_DEPTH: number = FIXED_LIMITS.callDepth.limit

export interface ParseOptions extends TimeContext {
  /** By upper-case name and alias. */
  readonly signatures: ReadonlyMap<string, FunctionSignature>
  /** Historian of a bare name inside a calculation; null when there is none. */
  readonly defaultHistorian: string | null
}

/** Whether an address is that of a calculation. */
export function isCalculation(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'calc/'
}

/**
 * Reads a tag address: a calculation when it begins with `calc/` in any case, otherwise `<historian_name>/<tag_name>`
 * as it is. Takes time in proportion to its length; nothing is looked up, the tags need not exist.
 * @throws CALCULATION_SYNTAX with its column, INVALID_TAG_ADDRESS
 * @source docs/calculation-grammar.md
 */
export function parseTag(text: string, options: ParseOptions): TagTree {
  if (isCalculation(text)) return parseCalculation(text, options)
  const address = parseAddress(text)
  if (address === null) {
    const input = showInput(text)
    throw new TidemarkError('INVALID_TAG_ADDRESS', { address: input }, { place: { input } })
  }
  return { kind: 'tag', historian: address.historian, name: address.tag, column: 1 }
}

function parseCalculation(text: string, options: ParseOptions): CallNode {
  try {
    if (text.length > MAX_CALCULATION_LENGTH) {
      throw new Failure(
        MAX_CALCULATION_LENGTH,
        `expected at most ${MAX_CALCULATION_LENGTH} characters, found ${text.length}`,
      )
    }
    return new Parser(text, options).calculation()
  } catch (error) {
    if (error instanceof Failure) throw syntaxError(text, error.at + 1, error.message)
    throw error
  }
}

class Parser {
  readonly #lexer: Lexer
  readonly #options: ParseOptions

  constructor(text: string, options: ParseOptions) {
    this.#lexer = new Lexer(text, 0)
    this.#options = options
  }

  calculation(): CallNode {
    const lexer = this.#lexer
    lexer.at = lexer.prefixEnd()!
    const call = this.#call(1)
    lexer.skipSpace()
    if (!lexer.atEnd()) {
      throw new Failure(lexer.at, `expected the end of the calculation, found ${found(lexer)}`)
    }
    return call
  }

  /** A call whose name begins here. @param depth of this call, 1 for the outermost */
  #call(depth: number): CallNode {
    const start = this.#lexer.at
    const signature = this.#functionName(depth)
    if (depth > MAX_CALL_DEPTH) {
      throw new Failure(start, `expected at most ${MAX_CALL_DEPTH} calls inside each other`, { limit: true })
    }
    const args = this.#arguments(signature, depth)
    return { kind: 'call', name: signature.name, args, column: start + 1 }
  }

  /** Goes past a function's name and its `(`. */
  #functionName(depth: number): FunctionSignature {
    const lexer = this.#lexer
    const start = lexer.at
    const name = lexer.identifierAt(start)
    const signature = this.#options.signatures.get(name.toUpperCase())
    lexer.at = start + name.length
    lexer.skipSpace()
    if (lexer.take('(')) {
      if (signature !== undefined) return signature
      if (name !== '') throw new Failure(start, this.#unknownFunction(name, depth))
    } else if (signature !== undefined && lexer.peek() !== '/') {
      throw new Failure(lexer.at, `expected ( after ${signature.name}`)
    }
    lexer.at = start
    throw new Failure(start, `expected a function such as ADD(...), found ${found(lexer)}`)
  }

  #unknownFunction(name: string, depth: number): string {
    const nearest = nearestName(name, this.#options.signatures.keys())
    const hint = nearest === null ? '' : ` (did you mean ${nearest}?)`
    const mayBeTag = depth > 1 && this.#options.defaultHistorian !== null
    return `expected a function, found ${excerpt(name)}${hint}${mayBeTag ? '; a tag with ( in its name needs quotes' : ''}`
  }

  /** The arguments of a call and its `)`. */
  #arguments(signature: FunctionSignature, depth: number): readonly Argument[] {
    const lexer = this.#lexer
    const args: Argument[] = []
    const starts: number[] = []
    let parameters = parametersWith(signature, args)
    lexer.skipSpace()
    if (lexer.peek() !== ')') {
      do {
        lexer.skipSpace()
        const parameter = parameterAt(parameters, args.length)
        if (parameter === null) throw this.#tooMany(signature, args)
        starts.push(lexer.at)
        const argument = this.#argument(signature, parameter, args, depth)
        args.push(argument)
        if (argument.kind === 'word') parameters = parametersWith(signature, args)
        lexer.skipSpace()
      } while (lexer.take(','))
      if (lexer.peek() !== ')') throw new Failure(lexer.at, 'expected , or )')
    }
    this.#checkEnough(signature, parameters, args)
    const complaint = signature.check?.(args) ?? null
    if (complaint !== null) throw new Failure(starts[complaint.argument] ?? lexer.at, complaint.reason)
    lexer.at++
    return args
  }

  #checkEnough(
    signature: FunctionSignature,
    parameters: readonly Parameter[],
    args: readonly Argument[],
  ): void {
    if (args.length >= leastArguments(parameters)) return
    const semicolon = args.some(
      (arg) => arg.kind === 'series' && arg.tree.kind === 'tag' && arg.tree.name.includes(';'),
    )
    const hint = semicolon ? ' (arguments are parted by , and not by ;)' : ''
    throw new Failure(this.#lexer.at, `${wrongCount(signature, args, args.length)}${hint}`)
  }

  /** The lexer stands at the first argument too many. */
  #tooMany(signature: FunctionSignature, before: readonly Argument[]): Failure {
    const lexer = this.#lexer
    const start = lexer.at
    let given = before.length + 1
    while (lexer.skipArgument() && lexer.take(',')) given++
    const takesTime = signature.parameters.some(({ kind }) => TIMES.has(kind))
    const hint = takesTime ? ' (a time that holds a comma needs quotes)' : ''
    return new Failure(start, `${wrongCount(signature, before, given)}${hint}`)
  }

  /** @param before the arguments before it */
  #argument(
    signature: FunctionSignature,
    parameter: Parameter,
    before: readonly Argument[],
    depth: number,
  ): Argument {
    const lexer = this.#lexer
    const start = lexer.at
    if (lexer.atEnd() || lexer.peek() === ',' || lexer.peek() === ')') {
      throw new Failure(start, mismatch(signature, parameter, found(lexer)))
    }
    try {
      return isLiteral(parameter)
        ? this.#literal(signature, parameter, before)
        : this.#series(signature, parameter, depth)
    } catch (error) {
      if (parameter.mayFail !== true || !(error instanceof Failure) || error.limit) throw error
      lexer.at = start
      if (!lexer.skipArgument()) throw error
      return { kind: 'broken', text: lexer.text.slice(start, lexer.at).trim(), column: start + 1 }
    }
  }

  #literal(signature: FunctionSignature, parameter: LiteralParameter, before: readonly Argument[]): Argument {
    const lexer = this.#lexer
    const start = lexer.at
    const callee = this.#calleeHere()
    if (callee !== '') {
      throw new Failure(start, mismatch(signature, parameter, `the calculation ${excerpt(callee)}(...)`))
    }
    const quoted = isQuote(lexer.peek())
    const text = (quoted ? lexer.quoted() : lexer.unquoted()).trim()
    const argument = readLiteral(parameter, text, start + 1, this.#options)
    if (argument !== null && (!quoted || mayBeQuoted(parameter.kind))) return argument
    const hint =
      argument === null
        ? wordHint(parameter, text) || this.#missingWordHint(signature, before, text)
        : ' (leave the quotes out)'
    throw new Failure(start, mismatch(signature, parameter, description(text, quoted) + hint))
  }

  /** For what another word before it would have made an argument of its own; '' when there is none. */
  #missingWordHint(signature: FunctionSignature, before: readonly Argument[], text: string): string {
    if (!before.some(({ kind }) => kind === 'word')) return ''
    const missing = parametersWithout(signature, before).find(
      (parameter) => isLiteral(parameter) && readLiteral(parameter, text, 1, this.#options) !== null,
    )
    return missing === undefined ? '' : ` (${missing.name} stands only with ${missing.onlyWith})`
  }

  #series(signature: FunctionSignature, parameter: Parameter, depth: number): Argument {
    const lexer = this.#lexer
    const start = lexer.at
    const column = start + 1
    if (this.#calleeHere() !== '' || lexer.prefixEnd() !== null) {
      lexer.at = lexer.prefixEnd() ?? start
      return { kind: 'series', tree: this.#call(depth + 1), column }
    }
    const quoted = isQuote(lexer.peek())
    const text = quoted ? lexer.quoted() : lexer.unquoted()
    if (!quoted && looksLikeNumber(text)) {
      if (parseNumber(text) === null) {
        throw new Failure(start, mismatch(signature, parameter, description(text, false)))
      }
      return { kind: 'series', tree: { kind: 'tag', historian: 'constants', name: text, column }, column }
    }
    // No duration has a slash: nearly all texts here are addresses.
    if (!quoted && this.#options.defaultHistorian === null && !text.includes('/') && isDuration(text)) {
      throw new Failure(start, mismatch(signature, parameter, description(text, false)))
    }
    return { kind: 'series', tree: this.#tag(text, quoted, start), column }
  }

  /** @param start where the argument begins, for its column */
  #tag(text: string, quoted: boolean, start: number): TagNode {
    const shown = quoted ? description(text, true) : excerpt(text)
    if (quoted && isCalculation(text)) {
      throw new Failure(
        start,
        `expected a tag in the quotes, found ${shown} (leave the quotes out of a calculation)`,
      )
    }
    const slash = text.indexOf('/')
    const historian = slash < 0 ? this.#options.defaultHistorian : text.slice(0, slash)
    const name = text.slice(slash + 1)
    if (historian === null || !isHistorianName(historian)) {
      const why = historian === null ? 'no default historian is configured' : 'no historian has such a name'
      throw new Failure(start, `expected a tag as <historian_name>/<tag_name>, found ${shown} (${why})`)
    }
    if (!isTagName(name)) {
      throw new Failure(
        start,
        `expected a tag name of 1 to ${MAX_TAG_NAME} characters, none of them a control character, found ${shown}`,
      )
    }
    return { kind: 'tag', historian, name, column: start + 1 }
  }

  /**
   * The name of the function that is called here, '' when no call begins here: a name right before a `(` is a call;
   * with white space between only if there is such a function, so that `TEMP (deg)` can be a tag of the default
   * historian.
   */
  #calleeHere(): string {
    const lexer = this.#lexer
    const prefixEnd = lexer.prefixEnd()
    const start = prefixEnd ?? lexer.at
    const name = lexer.identifierAt(start)
    if (name === '') return ''
    let end = start + name.length
    while (isSpace(lexer.text.charAt(end))) end++
    if (lexer.text.charAt(end) !== '(') return ''
    const spaced = end > start + name.length
    const called = prefixEnd !== null || !spaced || this.#options.signatures.has(name.toUpperCase())
    return called ? name : ''
  }
}

const TIMES: ReadonlySet<ParameterKind> = new Set(['time', 'anchor', 'offset'])

/** The parameter that takes an argument, null when the call takes no more. @param index from 0 */
function parameterAt(parameters: readonly Parameter[], index: number): Parameter | null {
  const last = parameters.at(-1)
  return parameters[index] ?? (last?.repeat === true ? last : null)
}
