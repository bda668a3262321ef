import { parseDuration } from '../time/duration.ts'
import { parseAddress } from './address.ts'
import { excerpt } from './failure.ts'
import type { Lexer } from './lexer.ts'
import { nearestName } from './nearest.ts'
import { looksLikeNumber, parseNumber } from './number.ts'
import { parametersWith } from './parameters.ts'
import type { Argument, FunctionSignature, Parameter } from './tree.ts'

/**
 * Says that an argument is not what its parameter takes. @param what stands there, as found() or description() say it
 */
export function mismatch(signature: FunctionSignature, parameter: Parameter, what: string): string {
  return `expected ${expectation(parameter)} for ${parameter.name} of ${signature.name}, found ${what}`
}

/** Says that a call has too many or too few arguments. @param args those that were read */
export function wrongCount(signature: FunctionSignature, args: readonly Argument[], given: number): string {
  const parameters = parametersWith(signature, args)
  const least = leastArguments(parameters)
  const most = parameters.at(-1)?.repeat === true ? null : parameters.length
  const count = most === null ? `at least ${least}` : upTo(least, most)
  const noun = (most ?? least) === 1 ? 'argument' : 'arguments'
  return `expected ${count} ${noun} for ${usageOf(signature.name, parameters)}, found ${given}`
}

function upTo(least: number, most: number): string {
  if (most === least) return `${least}`
  return most === least + 1 ? `${least} or ${most}` : `${least} to ${most}`
}

/** How many arguments a call with these parameters needs. */
export function leastArguments(parameters: readonly Parameter[]): number {
  let least = 0
  for (const { optional } of parameters) if (optional !== true) least++
  return least
}

/**
 * A function with its parameters: `IFEQUALS(a, b, t, f[, precision])`, `ADD(input, ...)`. Those that only some calls
 * have stand in brackets too.
 */
export function usage({ name, parameters }: FunctionSignature): string {
  return usageOf(
    name,
    parameters.map((parameter) =>
      parameter.onlyWith === undefined ? parameter : { ...parameter, optional: true },
    ),
  )
}

function usageOf(name: string, parameters: readonly Parameter[]): string {
  const shown = parameters.map((parameter, i) => {
    const separator = i === 0 ? '' : ', '
    const text = `${separator}${parameter.name}${parameter.repeat === true ? ', ...' : ''}`
    return parameter.optional === true ? `[${text}]` : text
  })
  return `${name}(${shown.join('')})`
}

/** What a parameter takes. */
export function expectation(parameter: Parameter): string {
  switch (parameter.kind) {
    case 'series':
      return 'a tag, a number or a calculation'
    case 'number':
      return parameter.percent === true ? 'a number such as 5, -2 or 20%' : 'a number such as 5 or -2'
    case 'duration':
      return 'a duration such as 1s, 1h or PT15M'
    case 'anchor':
      return 'an anchor such as BEGIN_DAY, 06:00 or 2024-04-01T00:00:00Z'
    case 'window':
      return 'a window (HOUR, DAY, WEEK, MONTH, QUARTER, YEAR or a duration such as 8h)'
    case 'window-anchor':
      return 'a local time of day such as 06:00, sunday 06:00 or 15 06:00'
    case 'offset':
      return 'an offset such as -1h, -01:00 or yesterday'
    case 'time':
      return 'a time such as 2024-04-01T00:00:00Z or yesterday'
    case 'word':
      return `one of ${(parameter.words ?? []).join(', ')}`
  }
}

/** What stands at the lexer's place, up to the next `,` or parenthesis. */
export function found(lexer: Lexer): string {
  if (lexer.atEnd()) return 'the end'
  // What comes after the longest excerpt does not matter.
  const rest = lexer.text.slice(lexer.at, lexer.at + 100)
  const end = rest.search(/[,()]/)
  return excerpt((end < 0 ? rest : rest.slice(0, Math.max(1, end))).trim())
}

/** What a text that is not of the expected kind looks like. */
export function description(text: string, quoted: boolean): string {
  if (quoted) return `the quoted text '${excerpt(text)}'`
  if (looksLikeNumber(text)) {
    return parseNumber(text) === null ? 'a number that is too large' : `the number ${excerpt(text)}`
  }
  if (isDuration(text)) return `the duration ${excerpt(text)}`
  if (parseAddress(text) !== null) return `the tag ${excerpt(text)}`
  return excerpt(text)
}

/** Whether a text is written like a duration with its unit, and so hardly meant as the name of a tag. */
export function isDuration(text: string): boolean {
  return !looksLikeNumber(text) && parseDuration(text) !== null
}

/** The word that was probably meant; '' when the parameter has none or the text is no word. */
export function wordHint(parameter: Parameter, text: string): string {
  if (parameter.kind !== 'word' || !/^[a-z_]/i.test(text)) return ''
  const nearest = nearestName(text, parameter.words ?? [])
  return nearest === null ? '' : ` (did you mean ${nearest}?)`
}
