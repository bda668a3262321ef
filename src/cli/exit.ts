import { systemCode } from '../errors/system-code.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'

/** What a command tells the shell; docs/command-line.md lists them. */
export const EXIT = {
  done: 0,
  /** It could not be done; the sentence on stderr says why. */
  failed: 1,
  /** Arguments, options or configuration are invalid; nothing was tried. */
  usage: 2,
  /** Done in part: rows or points were left out, some tags were not stored or not answered, damage left points out. */
  partly: 3,
  /** `check` found damage. */
  damaged: 4,
  /** Ctrl-C, as shells have it. */
  interrupted: 130,
} as const

/** An end of a command that is reported to a person in one sentence. */
export class CommandError extends Error {
  readonly exitCode: number
  /**
   * Whether it is reported also when the command was interrupted meanwhile; other errors then count as the end that was
   * wished.
   */
  readonly isFinal: boolean

  constructor(message: string, exitCode: number = EXIT.failed, cause?: unknown, isFinal = false) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.exitCode = exitCode
    this.isFinal = isFinal
  }
}

/** An invalid argument or option. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage)
}

/** The exit code of whatever ended a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode
  return error instanceof TidemarkError && error.code === 'CONFIG_INVALID' ? EXIT.usage : EXIT.failed
}

/** The sentence of whatever ended a command; errors of the operating system in words. */
export function sentenceOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof TidemarkError) return error.message
  if (!(error instanceof Error)) return String(error)
  const { path } = error as NodeJS.ErrnoException
  const words = SYSTEM_ERRORS[systemCode(error)]
  if (words !== undefined) return path === undefined ? capital(words) : `${path}: ${words}`
  return error.message === '' ? error.name : error.message
}

/** The sentence of an error of standard output. */
export function sentenceOfOutput(error: Error): string {
  const words = SYSTEM_ERRORS[systemCode(error)]
  return `The output could not be written: ${words ?? error.message}`
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'this is a folder, and a file is expected',
  ENOTDIR: 'a part of the path is a file, and a folder is expected',
  EEXIST: 'it exists already',
  ENOSPC: 'there is no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many files are open',
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
