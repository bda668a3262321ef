import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { parseAddress } from '../../grammar/address.ts'
import { isAliases } from '../../historian/visible-aliases.ts'
import { createInstantFormatter } from '../../time/format.ts'
import { instantFromUs } from '../../time/instant.ts'
import { parseTimeZone, systemTimeZone } from '../../time/zone.ts'
import type { Access } from '../access.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from '../context.ts'
import { formatNumber } from '../csv/number.ts'
import { timeWriter } from '../csv/time-pattern.ts'
import { csvLine } from '../csv/write.ts'
import { CommandError, EXIT, usageError } from '../exit.ts'
import { option, separatorCharacter, zoneId } from '../options.ts'
import { Progress } from '../progress.ts'
import { printable } from '../table.ts'
import { note, writeSlowly } from '../terminal.ts'
import { pagesByTag } from './long.ts'
import { PageReader } from './pages.ts'
import { mergeByTime } from './wide.ts'

interface Options extends AccessOptions {
  readonly historian?: string
  readonly match?: string
  readonly from: string
  readonly to: string
  readonly zone?: string
  readonly timeFormat?: string
  readonly format: 'long' | 'wide'
  readonly output?: string
  readonly separator?: string
  readonly decimalComma?: boolean
  readonly names?: boolean
}

/** More columns than this make no file that anything opens, and a page of each is held in memory. */
const MAX_WIDE_TAGS = 1000
const SEARCH_PAGE = 10_000
/** The last instant that the interface accepts. */
const END_OF_TIME = '2199-12-31T23:59:59.999999Z'

export function addExportCommand(program: Command, context: CommandContext): void {
  addAccessOptions(program.command('export'))
    .summary('write raw points to a CSV file')
    .description(
      'Writes the raw points of tags as CSV, from a data directory or from a running service with --url. The long form ' +
        'holds all that import reads again; the wide form leaves out BAD points.',
    )
    .argument('[tag...]', 'tag addresses, calculations too (default: all tags, or those of --match)')
    .addOption(option('--historian <name>', 'only tags of this historian'))
    .addOption(option('--match <pattern>', 'tags whose name or description matches, * and ? being wildcards'))
    .addOption(option('--from <time>', 'first instant').default('1700-01-01T00:00:00Z', 'the beginning'))
    .addOption(option('--to <time>', 'end, not included').default(END_OF_TIME, 'the end'))
    .addOption(option('--zone <id>', "IANA zone of the times (default: the machine's)").argParser(zoneId))
    .addOption(
      option(
        '--time-format <pattern>',
        'of the times, such as "dd.MM.yyyy HH:mm:ss" (default: ISO 8601 with its offset)',
      ),
    )
    .addOption(option('--format <form>', 'long or wide').choices(['long', 'wide']).default('long'))
    .addOption(option('--output <file>', 'file to write; - is standard output (default: standard output)'))
    .addOption(
      option(
        '--separator <character>',
        'between cells, also tab (default: a comma; a semicolon with --decimal-comma)',
      ).argParser(separatorCharacter),
    )
    .addOption(option('--decimal-comma', 'write numbers as 3,14'))
    .addOption(option('--names', 'tag names without their historian'))
    .addHelpText(
      'after',
      `
Examples:
  tidemark export > everything.csv
  tidemark export local/FLOW local/PRESSURE --from yesterday --to today --format wide
  TIDEMARK_KEY=... tidemark export --url http://127.0.0.1:8080 --match 'PUMP*' --output pumps.csv`,
    )
    .action((tags: string[], options: Options) => runExport(tags, options, context))
}

async function runExport(tags: readonly string[], options: Options, context: CommandContext): Promise<void> {
  const { terminal, signal } = context
  const separator = options.separator ?? (options.decimalComma === true ? ';' : ',')
  if (options.decimalComma === true && separator === ',') {
    throw usageError('--decimal-comma: the comma cannot be the separator too')
  }
  if (tags.length > 0 && (options.match !== undefined || options.historian !== undefined)) {
    throw usageError('Give tags, or --match and --historian, not both')
  }
  const zone = options.zone === undefined ? systemTimeZone() : parseTimeZone(options.zone)!
  const formatIso = createInstantFormatter(zone)
  const write = options.timeFormat === undefined ? null : timeWriter(options.timeFormat)
  const number = (value: number | null) =>
    value === null ? '' : formatNumber(value, options.decimalComma === true)
  const name = (address: string) =>
    options.names === true ? address.slice(address.indexOf('/') + 1) : address
  const time = (ms: number) => {
    const iso = formatIso(instantFromUs(Math.round(ms * 1000)))
    return write === null ? iso : write(iso)
  }

  const access = await openAccess(options, context)
  const progress = new Progress(terminal, null)
  const file = options.output === '-' ? undefined : options.output
  const out = new Output(file, context)
  let points = 0
  let bad = 0
  let warnings: ReadonlySet<string> = new Set()
  try {
    const reader = new PageReader(access, { from: options.from, to: options.to, timeZone: zone.id })
    warnings = reader.warnings
    if (options.format === 'long') {
      out.begin(csvLine(['tag', 'timestamp', 'value', 'status'], separator))
      for await (const page of pagesByTag(reader, addressesOf(tags, options, access))) {
        signal.throwIfAborted()
        await out.open()
        const tag = name(page.address)
        for (const [index, ms] of page.timestamps.entries()) {
          const status = page.statuses?.[index] ?? 'OK'
          await out.write(csvLine([tag, time(ms), number(page.values[index]!), status], separator))
        }
        points += page.timestamps.length
        progress.update(0, points)
      }
    } else {
      const addresses = await upTo(addressesOf(tags, options, access), MAX_WIDE_TAGS)
      out.begin(csvLine(['timestamp', ...addresses.map(name)], separator))
      for await (const row of mergeByTime(reader, addresses, () => bad++)) {
        signal.throwIfAborted()
        await out.write(csvLine([time(row.time), ...row.values.map(number)], separator))
        points += row.values.reduce<number>((count, value) => (value === null ? count : count + 1), 0)
        progress.update(0, points)
      }
    }
    await out.close()
  } finally {
    progress.clear()
    await access.close()
  }
  if (bad > 0) note(terminal, `${bad} BAD points have no place in the wide form and were left out`)
  if (file !== undefined) note(terminal, `Exported ${points.toLocaleString('en')} points to ${file}`)
  if (warnings.size === 0) return
  for (const warning of warnings) note(terminal, printable(warning))
  throw new CommandError('Not everything could be exported', EXIT.partly)
}

async function* addressesOf(
  tags: readonly string[],
  { historian, match }: Options,
  access: Access,
): AsyncGenerator<string> {
  if (tags.length > 0) {
    yield* new Set(tags)
    return
  }
  let cursor: string | undefined
  let found = 0
  do {
    const page = await access.searchTags({ historian, search: match, limit: SEARCH_PAGE, cursor })
    for (const { qualifiedTagName: address } of page.tags) {
      // The tag that an alias refers to is exported under its own name, and import could not write to the alias.
      if (historian === undefined && isAliases(parseAddress(address)?.historian ?? '')) continue
      found++
      yield address
    }
    cursor = page.next
  } while (cursor !== undefined)
  if (found === 0) throw new CommandError('There are no such tags')
}

async function upTo(addresses: AsyncIterable<string>, most: number): Promise<readonly string[]> {
  const all: string[] = []
  for await (const address of addresses) {
    if (all.length === most)
      throw new CommandError(`The wide form takes at most ${most} tags: name them, or use the long form`)
    all.push(address)
  }
  return all
}

/**
 * Collects lines into larger writes; a line alone costs more than what is in it. A file is opened, and emptied, when
 * there is something to write: what was exported before stays when tags do not exist or the service cannot be reached.
 */
class Output {
  readonly #file: string | undefined
  readonly #context: CommandContext
  #stream: Writable | null = null
  #pending: string[] = []
  #length = 0

  /** @param file standard output when left out */
  constructor(file: string | undefined, context: CommandContext) {
    this.#file = file
    this.#context = context
  }

  /** Sets the first line, which alone does not open the file. */
  begin(line: string): void {
    this.#pending.push(line)
  }

  /** Opens the file, unless it is open; it does not have to be called. */
  async open(): Promise<Writable> {
    if (this.#stream !== null) return this.#stream
    const { terminal, directory } = this.#context
    this.#stream = this.#file === undefined ? terminal.out : await openFile(resolve(directory, this.#file))
    return this.#stream
  }

  async write(line: string): Promise<void> {
    this.#pending.push(line)
    this.#length += line.length
    if (this.#length > 64 * 1024) await this.#flush()
  }

  async close(): Promise<void> {
    const stream = await this.#flush()
    if (this.#file === undefined) return
    stream.end()
    await once(stream, 'close')
  }

  async #flush(): Promise<Writable> {
    const stream = await this.open()
    const text = this.#pending.join('')
    this.#pending = []
    this.#length = 0
    await writeSlowly(stream, text)
    return stream
  }
}

async function openFile(path: string): Promise<Writable> {
  const stream = createWriteStream(path)
  await once(stream, 'open')
  // The write that failed reports it; without a listener the process would end.
  stream.on('error', () => {})
  return stream
}
