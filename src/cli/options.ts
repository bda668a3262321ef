import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseTimeZone } from '../time/zone.ts'

/** The variable of an option: `--data-dir` is TIDEMARK_DATA_DIR. */
export function variableOf(flags: string): string {
  const name = /--(?:no-)?([a-z-]+)/.exec(flags)?.[1] ?? ''
  return `TIDEMARK_${name.toUpperCase().replaceAll('-', '_')}`
}

/** An option that its environment variable gives too. */
export function option(flags: string, description: string): Option {
  return new Option(flags, description).env(variableOf(flags))
}

/** An option that may be given several times, or as a list with commas in its variable. */
export function listOption(flags: string, description: string): Option {
  return option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    ...value.split(',').map((part) => part.trim()),
  ])
}

/** An option `NAME=VALUE` that may be given several times. */
export function pairOption(flags: string, description: string): Option {
  return option(flags, description).argParser(
    (value: string, before: ReadonlyMap<string, string> | undefined) => {
      const at = value.indexOf('=')
      if (at <= 0) throw new InvalidArgumentError('NAME=VALUE is expected.')
      return new Map(before).set(value.slice(0, at), value.slice(at + 1))
    },
  )
}

/** Parser of an option with a whole number of at least `least`. */
export function wholeNumber(least: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < least) {
      throw new InvalidArgumentError(`A whole number of at least ${least} is expected.`)
    }
    return number
  }
}

/** Parser of an option with an IANA zone id. */
export function zoneId(value: string): string {
  if (parseTimeZone(value) === null) {
    throw new InvalidArgumentError('An IANA zone id such as Europe/Oslo is expected.')
  }
  return value
}

/** Parser of a field separator: one character, or a word for one that is hard to type. */
export function separatorCharacter(value: string): string {
  const named: Readonly<Record<string, string>> = {
    tab: '\t',
    '\\t': '\t',
    comma: ',',
    semicolon: ';',
    pipe: '|',
    space: ' ',
  }
  const character = Object.hasOwn(named, value) ? named[value]! : value
  if (!/^[^"\r\n\w.+-]$/.test(character)) {
    throw new InvalidArgumentError(
      'One character such as ; is expected, or tab, comma, semicolon, pipe, space.',
    )
  }
  return character
}

/**
 * Makes variables mean what people mean by them, before commander reads them: an empty one is one that is not set, and
 * `0`, `false`, `no` or `off` is a flag that is not given (commander would take any text for yes).
 * @returns undoes it
 */
export function tidyVariables(program: Command, env: NodeJS.ProcessEnv): () => void {
  const removed = new Map<string, string>()
  const visit = (command: Command) => {
    for (const option of command.options) {
      const value = option.envVar === undefined ? undefined : env[option.envVar]
      if (value === undefined) continue
      if (value === '' || (option.isBoolean() && /^(0|false|no|off)$/i.test(value))) {
        removed.set(option.envVar!, value)
        delete env[option.envVar!]
      }
    }
    command.commands.forEach(visit)
  }
  visit(program)
  return () => {
    for (const [name, value] of removed) env[name] = value
  }
}
