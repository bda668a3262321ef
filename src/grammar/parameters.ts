import type { Argument, FunctionSignature, Parameter } from './tree.ts'

/** The parameters that a call has, known from the arguments at its beginning: some are there only with a word. */
export function parametersWith(
  { parameters }: FunctionSignature,
  args: readonly Argument[],
): readonly Parameter[] {
  // Nearly all functions, and asked for every argument.
  if (!parameters.some(isConditional)) return parameters
  return parameters.filter(
    ({ onlyWith }) =>
      onlyWith === undefined || args.some((arg) => arg.kind === 'word' && arg.word === onlyWith),
  )
}

function isConditional({ onlyWith }: Parameter): boolean {
  return onlyWith !== undefined
}

/** Those that a call does not have for want of their word. */
export function parametersWithout(
  signature: FunctionSignature,
  args: readonly Argument[],
): readonly Parameter[] {
  const taken = parametersWith(signature, args)
  return signature.parameters.filter((parameter) => !taken.includes(parameter))
}
