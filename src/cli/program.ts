import { Command, CommanderError, type Option } from 'commander'
import type { Environment } from '../config/environment.ts'
import { addAliasCommand } from './alias.ts'
import { addConfigCommand } from './config.ts'
import type { CommandContext } from './context.ts'
import { addDoctorCommand } from './doctor.ts'
import { CommandError, EXIT, exitCodeOf, sentenceOf, sentenceOfOutput } from './exit.ts'
import { addExportCommand } from './export/command.ts'
import { addImportCommand } from './import/command.ts'
import { addIntervalCommands } from './intervals.ts'
import { addKeysCommand } from './keys.ts'
import { addMaintenanceCommands } from './maintenance.ts'
import { tidyVariables } from './options.ts'
import { addPointsCommand } from './points.ts'
import { addQueryCommand } from './query/command.ts'
import { addRestoreCommand } from './restore.ts'
import { addRetentionCommand } from './retention.ts'
import { addServeCommand } from './serve.ts'
import { listenForSignals, type SignalledProcess } from './signals.ts'
import { addTagsCommand } from './tags.ts'
import { listenForOutputErrors, type OutputErrors, type Terminal } from './terminal.ts'
import type { Tools } from './tools.ts'

/** The whole command line, for running it and for its documentation. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('tidemark')
    .description('One HTTP/JSON interface in front of all the time-series historians of a plant.')
    .version(context.tools.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .option('--debug', 'print the stack of an error too')
    .showSuggestionAfterError()
    .showHelpAfterError('(tidemark --help shows what there is)')
    .configureHelp({ helpWidth: 100, optionDescription: describeOption })
    .addHelpText(
      'after',
      `
Every option can be given as a variable too: --data-dir is TIDEMARK_DATA_DIR.

Examples:
  tidemark serve --demo                    run the service with a plant to look at
  tidemark keys create --name me --scope write
  tidemark import data.csv                 load a file; see tidemark import --help
  tidemark query local/FLOW --from '2h ago' --count 13`,
    )
  addServeCommand(program, context)
  addKeysCommand(program, context)
  addImportCommand(program, context)
  addExportCommand(program, context)
  addQueryCommand(program, context)
  addIntervalCommands(program, context)
  addTagsCommand(program, context)
  addAliasCommand(program, context)
  addPointsCommand(program, context)
  addMaintenanceCommands(program, context)
  addRestoreCommand(program, context)
  addRetentionCommand(program, context)
  addConfigCommand(program, context)
  addDoctorCommand(program, context)
  const settle = (command: Command) => {
    command.exitOverride()
    command.configureOutput({
      writeOut: (text) => context.terminal.out.write(text),
      writeErr: (text) => context.terminal.err.write(text.replace(/^error: /, '')),
    })
    command.commands.forEach(settle)
  }
  settle(program)
  return program
}

/** Without the variable, which is named after the option, and without the choices, which the description tells. */
function describeOption({ description, defaultValue, defaultValueDescription }: Option): string {
  const preset = defaultValueDescription ?? defaultValue
  return preset === undefined ? description : `${description} (default: ${preset})`
}

/** How a command line ended. */
export interface CommandEnd {
  readonly code: number
  /** It was asked to end by a signal. */
  readonly interrupted: boolean
}

/**
 * Runs a command line to its end. Never throws.
 * @param args without the program's name
 */
export async function runCommandLine(
  args: readonly string[],
  tools: Tools,
  process: RunningProcess,
): Promise<CommandEnd> {
  const interruption = new AbortController()
  const endOfSignals = listenForSignals(process, interruption)
  const output = listenForOutputErrors({ out: process.stdout, err: process.stderr })
  const code = await exitCodeOfCommand(args, tools, process, interruption.signal, output)
  endOfSignals()
  if (interruption.signal.aborted) return { code, interrupted: true }
  const error = await output.first()
  // A reader that closes the pipe, such as head, has all that it wants.
  if (error === null || isClosedPipe(error)) return { code, interrupted: false }
  process.stderr.write(`${sentenceOfOutput(error)}\n`)
  return { code: EXIT.failed, interrupted: false }
}

function isClosedPipe(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE'
}

async function exitCodeOfCommand(
  args: readonly string[],
  tools: Tools,
  process: RunningProcess,
  signal: AbortSignal,
  output: OutputErrors,
): Promise<number> {
  const context: CommandContext = {
    tools,
    terminal: { out: process.stdout, err: process.stderr, ignoreErrors: output.ignore },
    env: { ...process.env } as Environment,
    directory: process.cwd(),
    input: process.stdin,
    signal,
  }
  const program = createProgram(context)
  const restoreVariables = tidyVariables(program, process.env)
  try {
    await program.parseAsync(args, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    if (signal.aborted && !(error instanceof CommandError && error.isFinal)) {
      process.stderr.write('Interrupted.\n')
      return EXIT.interrupted
    }
    // Reported by the caller, as for the commands that print at their end and do not wait for it.
    if (error === (await output.first())) return EXIT.done
    process.stderr.write(`${sentenceOf(error)}\n`)
    if (program.opts().debug === true) process.stderr.write(`${stackOf(error)}\n`)
    return exitCodeOf(error)
  } finally {
    restoreVariables()
  }
}

/** The part of the process that a command line needs. */
export interface RunningProcess extends SignalledProcess {
  readonly stdout: Terminal['out']
  readonly stderr: Terminal['err']
  readonly stdin: AsyncIterable<Uint8Array>
  readonly env: NodeJS.ProcessEnv
  cwd(): string
}

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const { cause } = error as { cause?: unknown }
  return cause instanceof Error ? `${stack}\ncaused by ${stackOf(cause)}` : stack
}
