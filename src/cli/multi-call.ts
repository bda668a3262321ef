import type { MultiBody } from './access.ts'
import { type AccessOptions, type CommandContext, openAccess } from './context.ts'
import { CommandError, EXIT } from './exit.ts'
import { withHints } from './hints.ts'
import { printable } from './table.ts'
import { note, say } from './terminal.ts'

/** Options of commands that make a multi call. */
export interface CallOptions extends AccessOptions {
  readonly now?: string
  readonly zone?: string
  readonly explain?: boolean
  readonly json?: boolean
}

/**
 * Makes one multi call of a command and prints its answer, by `print` unless JSON was asked for. Warnings go to
 * standard error, and end the command as done in part: they say what the answer leaves out. Labels that ended in errors
 * end it with their sentences.
 */
export async function runMultiCall(
  requests: Readonly<Record<string, object>>,
  options: CallOptions,
  context: CommandContext,
  print: (answer: MultiBody) => void,
): Promise<void> {
  const body = {
    ...(options.now !== undefined && { now: options.now }),
    ...(options.zone !== undefined && { timeZone: options.zone }),
    ...(options.explain === true && { explain: true }),
    requests,
  }
  const access = await openAccess(options, context)
  const answer = await access.multi(body).finally(() => access.close())
  const { terminal } = context
  if (options.json === true || options.explain === true) say(terminal, JSON.stringify(answer, null, 2))
  else print(answer)
  for (const warning of answer.warnings ?? []) note(terminal, printable(warning))
  const sentences = errorSentences(answer)
  if (sentences.length === 0) {
    if (
      answer.message !== undefined &&
      Object.keys(answer.results).length === 0 &&
      options.explain !== true
    ) {
      throw new CommandError(answer.message)
    }
    if (answer.warnings !== undefined && options.explain !== true)
      throw new CommandError('Not everything is in the answer', EXIT.partly)
    return
  }
  const hasSome = Object.keys(answer.results).length > 0
  throw new CommandError(sentences.map(printable).join('\n'), hasSome ? EXIT.partly : EXIT.failed)
}

/** Sentences of the labels that ended in errors, each once: a limit or the deadline says the same of every tag. */
export function errorSentences({ errors, issues }: MultiBody): readonly string[] {
  return [...new Set(withHints(Object.values(errors), issues))]
}
