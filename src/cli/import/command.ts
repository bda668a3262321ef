import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import type { Command } from 'commander'
import { DEMO_HISTORIAN } from '../../config/historian-names.ts'
import { isHistorianName, isTagName } from '../../grammar/address.ts'
import { createInstantFormatter } from '../../time/format.ts'
import { parseTimeZone, systemTimeZone } from '../../time/zone.ts'
import type { Access } from '../access.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from '../context.ts'
import { CommandError, EXIT, usageError } from '../exit.ts'
import { listOption, option, pairOption, separatorCharacter, wholeNumber, zoneId } from '../options.ts'
import { Progress } from '../progress.ts'
import { formatTable } from '../table.ts'
import { note, say, type Terminal } from '../terminal.ts'
import { type ImportReport, importFile } from './import-file.ts'
import type { Layout } from './layout.ts'
import { MetadataPlan } from './metadata-plan.ts'

interface Options extends AccessOptions {
  readonly historian?: string
  readonly format?: 'long' | 'wide'
  readonly separator?: string
  readonly encoding: string
  readonly zone?: string
  readonly timeColumn?: string
  readonly timeFormat?: string
  readonly decimalComma?: boolean
  readonly empty?: readonly string[]
  readonly badValues?: readonly string[]
  readonly columns?: readonly string[]
  readonly rename?: ReadonlyMap<string, string>
  readonly prefix?: string
  readonly stepped?: readonly string[]
  readonly units?: ReadonlyMap<string, string>
  readonly describe?: ReadonlyMap<string, string>
  readonly batch: number
  readonly fromLine: number
  readonly skipBad?: boolean
  readonly dryRun?: boolean
}

/** A batch of so many points takes a service a few tens of milliseconds and 2 MB. */
const DEFAULT_BATCH = 50_000

export function addImportCommand(program: Command, context: CommandContext): void {
  addAccessOptions(program.command('import'))
    .summary('load points from a CSV file')
    .description(
      'Loads points from a CSV file (- for standard input, .gz too) into a data directory, or into a running service ' +
        'with --url.\n\nThe long form has columns tag, timestamp, value and perhaps status; the wide form has one time ' +
        'column and a column for each tag. Missing tags are made. Of points with the same tag and time the last one ' +
        'counts, so an import that was cut off is simply run again.',
    )
    .argument('<file>', 'the CSV file, or - for standard input')
    .addOption(option('--historian <name>', 'historian to write to (default: the only writable one)'))
    .addOption(
      option('--format <form>', 'long or wide (default: long with columns tag and value)').choices([
        'long',
        'wide',
      ]),
    )
    .addOption(
      option('--separator <character>', 'between cells, also tab (default: found from the header)').argParser(
        separatorCharacter,
      ),
    )
    .addOption(option('--encoding <name>', 'of the text, such as windows-1252').default('utf-8'))
    .addOption(
      option('--zone <id>', "IANA zone of times without one (default: the machine's)").argParser(zoneId),
    )
    .addOption(
      option(
        '--time-column <name>',
        'column of the times (default: timestamp, time, datetime, date; or the first)',
      ),
    )
    .addOption(
      option(
        '--time-format <pattern>',
        'of the times, such as "dd.MM.yyyy HH:mm:ss" (default: every form of the interface)',
      ),
    )
    .addOption(option('--decimal-comma', 'numbers are written 3,14'))
    .addOption(
      listOption('--empty <texts>', 'texts that mean no value, such as NaN,NULL (an empty cell always does)'),
    )
    .addOption(
      listOption(
        '--bad-values <texts>',
        'texts of BAD points, such as "Bad Input,No Data" (stored as 0, BAD)',
      ),
    )
    .addOption(listOption('--columns <names>', 'wide form: only these columns'))
    .addOption(pairOption('--rename <column=tag>', 'another tag name; may be repeated'))
    .addOption(option('--prefix <text>', 'put before every tag name'))
    .addOption(listOption('--stepped <tags>', 'tags whose values hold until the next point'))
    .addOption(pairOption('--units <tag=units>', 'units of a tag; may be repeated'))
    .addOption(pairOption('--describe <tag=text>', 'description of a tag; may be repeated'))
    .addOption(
      option('--batch <points>', 'points in one write').argParser(wholeNumber(1)).default(DEFAULT_BATCH),
    )
    .addOption(
      option('--from-line <n>', 'pass over the rows before this line').argParser(wholeNumber(1)).default(1),
    )
    .addOption(option('--skip-bad', 'leave out rows that cannot be read, and end with exit code 3'))
    .addOption(
      option(
        '--dry-run',
        'read everything, show the first points as they would be stored, and write nothing',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  tidemark import pump.csv --zone Europe/Oslo
  tidemark import flags.csv --columns anomaly,changepoint --stepped anomaly,changepoint --prefix valve1.
  tidemark import export.csv --separator ';' --decimal-comma --time-format 'dd.MM.yyyy HH:mm'
  TIDEMARK_KEY=... tidemark import long.csv --url http://127.0.0.1:8080 --historian local`,
    )
    .action((file: string, options: Options) => runImport(file, options, context))
}

async function runImport(file: string, options: Options, context: CommandContext): Promise<void> {
  const { terminal, signal } = context
  const { parseTimeFormat } = await import('../csv/time-format.ts')
  const timeFormat = options.timeFormat === undefined ? null : parseTimeFormat(options.timeFormat)
  if (options.decimalComma === true && options.separator === ',') {
    throw usageError('--decimal-comma: the comma cannot be the separator too')
  }
  const { source, size, bytesRead } = await openFile(file, context)
  const access = await openAccess(options, context)
  const progress = new Progress(terminal, size)
  let writtenToLine: number | null = null
  try {
    const target = await findTarget(options, access)
    const metadata = new MetadataPlan(options)
    const report = await importFile(
      source,
      access,
      {
        format: options.format ?? null,
        timeColumn: options.timeColumn ?? null,
        columns: options.columns ?? null,
        rename: options.rename ?? new Map(),
        separator: options.separator ?? null,
        encoding: options.encoding,
        zone: options.zone === undefined ? null : parseTimeZone(options.zone),
        timeFormat,
        decimalComma: options.decimalComma === true,
        emptyTexts: new Set(options.empty),
        badTexts: new Set(options.badValues),
        addressOf: (name, layout) => target.addressOf(name, layout),
        batchPoints: options.batch,
        fromLine: options.fromLine,
        skipBad: options.skipBad === true,
        dryRun: options.dryRun === true,
        onLayout: async (layout) => {
          checkTagNames(layout, target)
          if (layout.kind === 'wide') metadata.checkNames(wideNames(layout, target))
        },
        onUnits: async (units, line) => {
          metadata.addUnits(units)
          note(
            terminal,
            `Line ${line} was taken as units: ${[...units].map(([tag, unit]) => `${tag} in ${unit}`).join(', ')}`,
          )
        },
        onProgress: (state) => {
          writtenToLine = state.writtenToLine
          progress.update(bytesRead(), state.points)
        },
      },
      signal,
    )
    if (options.dryRun !== true && (report.problems === 0 || options.skipBad === true)) {
      await metadata.apply(access, report.tags, target)
    }
    progress.clear()
    tell(report, options, progress.seconds(), terminal)
  } catch (error) {
    progress.clear()
    if (writtenToLine !== null) {
      note(
        terminal,
        `Everything up to line ${writtenToLine} is written; run it again, or go on with --from-line ${writtenToLine + 1}.`,
      )
    }
    throw error
  } finally {
    await access.close()
  }
}

async function openFile(file: string, { input, directory }: CommandContext) {
  let read = 0
  const counted = async function* (stream: AsyncIterable<Uint8Array>) {
    for await (const chunk of stream) {
      read += chunk.length
      yield chunk
    }
  }
  if (file === '-') return { source: counted(input), size: null, bytesRead: () => read }
  const path = resolve(directory, file)
  const { size } = await stat(path)
  const stream = createReadStream(path, { highWaterMark: 256 * 1024 })
  // Opened before anything is done, so that an unreadable file is reported at once.
  await new Promise((open, fail) => stream.once('open', open).once('error', fail))
  const bytes = counted(stream)
  return { source: path.endsWith('.gz') ? unzip(bytes) : bytes, size, bytesRead: () => read }
}

async function* unzip(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { Readable, pipeline } = await import('node:stream')
  const gunzip = createGunzip()
  pipeline(Readable.from(bytes), gunzip, () => {})
  try {
    yield* gunzip
  } catch (error) {
    throw new CommandError(`The file cannot be unzipped: ${(error as Error).message}`)
  }
}

/** What addresses the names of the file are. */
interface Target {
  addressOf(name: string, layout: Layout['kind']): string | null
}

/**
 * With --historian every name is one of its tags. Without it, a name of the long form that begins with a writable
 * historian and a slash is an address, and anything else belongs to the only writable historian.
 */
async function findTarget({ historian, prefix = '' }: Options, access: Access): Promise<Target> {
  const writable = (await access.listHistorians())
    .filter((candidate) => candidate.writable)
    .map(({ name }) => name)
  if (historian !== undefined) {
    if (!writable.includes(historian)) {
      const known =
        writable.length === 0
          ? 'there is none'
          : `there ${writable.length === 1 ? 'is' : 'are'} ${writable.join(', ')}`
      throw new CommandError(`There is no writable historian ${historian}: ${known}`)
    }
    return { addressOf: (name) => addressIn(historian, prefix + name) }
  }
  if (writable.length === 0) throw new CommandError('There is no writable historian')
  // Who looks at the demo and has a historian beside it means that one.
  const candidates = writable.length === 1 ? writable : writable.filter((name) => name !== DEMO_HISTORIAN)
  const only = candidates.length === 1 ? candidates[0]! : null
  return {
    addressOf: (name, layout) => {
      const slash = layout === 'long' ? name.indexOf('/') : -1
      const first = name.slice(0, slash)
      if (slash > 0 && writable.includes(first)) return addressIn(first, prefix + name.slice(slash + 1))
      if (only === null) {
        throw usageError(
          `Several historians are writable, ${writable.join(', ')}: choose one with --historian`,
        )
      }
      return addressIn(only, prefix + name)
    },
  }
}

function addressIn(historian: string, tag: string): string | null {
  return isHistorianName(historian) && isTagName(tag) ? `${historian}/${tag}` : null
}

function checkTagNames(layout: Layout, target: Target): void {
  if (layout.kind !== 'wide') return
  for (const { name } of layout.tags) {
    if (target.addressOf(name, 'wide') === null) {
      throw new CommandError(
        `The column name ${JSON.stringify(name)} cannot be a tag name: 1 to 512 characters without control characters are expected`,
      )
    }
  }
}

/**
 * All that metadata options may call the tags of a wide file: their column, their name, with the prefix, the address.
 */
function wideNames(layout: Extract<Layout, { kind: 'wide' }>, target: Target): Map<string, string> {
  const names = new Map<string, string>()
  for (const { header, name } of layout.tags) {
    const address = target.addressOf(name, 'wide')!
    for (const alias of [address, address.slice(address.indexOf('/') + 1), header, name])
      names.set(alias, address)
  }
  return names
}

function tell(report: ImportReport, options: Options, seconds: number, terminal: Terminal): void {
  const isStopped = report.problems > 0 && options.skipBad !== true
  for (const problem of report.firstProblems) note(terminal, problem)
  if (report.problems > report.firstProblems.length) {
    note(terminal, `and ${report.problems - report.firstProblems.length} more`)
  }
  const counted = `${plural(report.points - report.tooOld, 'point')} of ${plural(report.tags.size, 'tag')} in ${plural(report.rows, 'row')}`
  if (options.dryRun === true) {
    say(terminal, `${counted}: nothing was written (--dry-run)`)
    printFirst(report, options, terminal)
  } else if (!isStopped) {
    const rate =
      seconds > 0.5 ? `, ${Math.round(report.written / seconds).toLocaleString('en')} points/s` : ''
    say(terminal, `Imported ${counted} (${seconds.toFixed(1)} s${rate})`)
  }
  tellDoubts(report, terminal)
  const { tooOld } = report
  const old = `${plural(tooOld, 'point')} left out: their tags keep none that are as old (retention)`
  if (report.problems === 0) {
    if (tooOld > 0) throw new CommandError(old, EXIT.partly)
    return
  }
  if (tooOld > 0) note(terminal, old)
  if (!isStopped) {
    throw new CommandError(
      `${plural(report.problems, 'problem')}: what they are about was left out`,
      EXIT.partly,
    )
  }
  const done =
    report.writtenToLine === null
      ? 'Nothing was written'
      : `Everything up to line ${report.writtenToLine} was written`
  const hint =
    options.dryRun === true
      ? ''
      : ` ${done}; correct the file and run it again, or leave such rows out with --skip-bad`
  throw new CommandError(`${plural(report.problems, 'problem')} in the file.${hint}`)
}

/** The first points as they would be stored. */
function printFirst({ firstPoints }: ImportReport, { zone }: Options, terminal: Terminal): void {
  if (firstPoints.length === 0) return
  const time = createInstantFormatter(zone === undefined ? systemTimeZone() : parseTimeZone(zone)!)
  const rows = firstPoints.map(({ address, at, value, isBad }) => [
    address,
    time(at),
    String(value),
    isBad ? 'BAD' : 'OK',
  ])
  terminal.out.write(formatTable(['tag', 'time', 'value', 'status'], rows, new Set([2])))
}

/** What was read, but may have been meant otherwise. */
function tellDoubts(report: ImportReport, terminal: Terminal): void {
  const { comments, duplicates, unclearTimes } = report
  if (comments > 0) note(terminal, `${plural(comments, 'comment row')} passed over`)
  if (duplicates.count > 0) {
    const atLeast = duplicates.isAtLeast ? 'At least ' : ''
    note(
      terminal,
      `${atLeast}${plural(duplicates.count, 'point')} with the time of an earlier one of the same tag: the last one counts`,
    )
  }
  if (unclearTimes > 0) {
    note(
      terminal,
      `${plural(unclearTimes, 'time')} of the doubled hour of a clock change, not in time order: the first of both hours is taken`,
    )
  }
}

function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
