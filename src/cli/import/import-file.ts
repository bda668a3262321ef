import type { Instant } from '../../time/instant.ts'
import { systemTimeZone, type TimeZone } from '../../time/zone.ts'
import type { Access, ColumnsBody } from '../access.ts'
import { presentInstant } from '../clock.ts'
import { parseNumber } from '../csv/number.ts'
import { type CsvRow, readCsv } from '../csv/read.ts'
import type { TimeFormat } from '../csv/time-format.ts'
import { CommandError } from '../exit.ts'
import { TagChunks } from '../tag-chunks.ts'
import { Batch } from './batches.ts'
import { Duplicates } from './duplicates.ts'
import { findLayout, isTimeName, type Layout, type LayoutOptions } from './layout.ts'
import { rowReader } from './rows.ts'

export interface ImportOptions extends LayoutOptions {
  readonly separator: string | null
  readonly encoding: string
  readonly zone: TimeZone | null
  readonly timeFormat: TimeFormat | null
  readonly decimalComma: boolean
  readonly emptyTexts: ReadonlySet<string>
  readonly badTexts: ReadonlySet<string>
  readonly addressOf: (name: string, layout: Layout['kind']) => string | null
  /** Points in one write request. */
  readonly batchPoints: number
  /** Rows that end before this line are passed over; header and units are read all the same. */
  readonly fromLine: number
  /** Whether rows that cannot be parsed are left out; otherwise the first one ends all writing. */
  readonly skipBad: boolean
  /** Whether everything is read and nothing written. */
  readonly dryRun: boolean
  /** Called when a batch is acknowledged, and now and then where nothing is written. */
  readonly onProgress: (progress: { readonly points: number; readonly writtenToLine: number | null }) => void
  /** Called once the header is parsed, before the first write. */
  readonly onLayout: (layout: Layout) => Promise<void>
  /** Called for a row of units below the header of a wide file, with the units by column name. */
  readonly onUnits: (units: ReadonlyMap<string, string>, line: number) => Promise<void>
}

export interface ImportReport {
  readonly layout: Layout['kind']
  /** Rows of data, without the header and what was passed over. */
  readonly rows: number
  /** Points in the file, duplicates counted as often as they occur. */
  readonly points: number
  /** Of them, how many are acknowledged, including points that are too old. */
  readonly written: number
  /** Points that were left out, as their tags keep none that are as old. */
  readonly tooOld: number
  /** Addresses of the tags that points were found for. */
  readonly tags: ReadonlySet<string>
  /** Rows that were comments. */
  readonly comments: number
  /** Times of the doubled hour of autumn that the order of rows does not resolve; the first one was taken. */
  readonly unclearTimes: number
  readonly duplicates: Duplicates
  /** The first points, as they are stored. */
  readonly firstPoints: readonly ImportedPoint[]
  readonly problems: number
  /** The first of them: `line 17: "abc" is no number`. */
  readonly firstProblems: readonly string[]
  /** Every row that ends up to this line is written; null when nothing is. */
  readonly writtenToLine: number | null
}

/** A point as it is stored. */
export interface ImportedPoint {
  readonly address: string
  readonly at: Instant
  readonly value: number
  readonly isBad: boolean
}

const MAX_PROBLEMS_KEPT = 20
const MAX_POINTS_KEPT = 10

/**
 * Reads a CSV file and writes its points in batches, in the order of the file; while one batch is being written the
 * next is read. An import that was cut off is done again, as a point that is written twice is still one point.
 * @throws CommandError for a header that cannot be parsed; what the access throws, with the line up to which is
 *         written
 */
export async function importFile(
  source: AsyncIterable<Uint8Array>,
  access: Access,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<ImportReport> {
  const rows = readCsv(source, options)
  const { header, comments: before } = await readHeader(rows)
  const layout = findLayout(header, options)
  await options.onLayout(layout)

  const batch = new Batch()
  const chunks = new TagChunks()
  const tags = new Set<string>()
  const firstProblems: string[] = []
  const firstPoints: ImportedPoint[] = []
  const duplicates = new Duplicates()
  let comments = before
  let unclearTimes = 0
  let rowCount = 0
  let points = 0
  let written = 0
  let tooOld = 0
  let problems = 0
  let writtenToLine: number | null = null
  let writing: Promise<void> = Promise.resolve()

  const read = rowReader(
    layout,
    {
      zone: options.zone ?? systemTimeZone(),
      now: presentInstant(),
      timeFormat: options.timeFormat,
      decimalComma: options.decimalComma,
      emptyTexts: options.emptyTexts,
      badTexts: options.badTexts,
      // Columns of the wide form are renamed by the layout already.
      addressOf: (name) =>
        options.addressOf(
          (layout.kind === 'long' ? options.rename.get(name) : undefined) ?? name,
          layout.kind,
        ),
    },
    {
      point: (address, at, value, isBad) => {
        points++
        tags.add(address)
        duplicates.add(address, at)
        if (firstPoints.length < MAX_POINTS_KEPT) firstPoints.push({ address, at, value, isBad })
        if (!options.dryRun) batch.add(address, at, value, isBad)
      },
      comment: () => {
        comments++
      },
      unclearTime: () => {
        unclearTimes++
      },
      problem: (line, problem) => {
        problems++
        if (firstProblems.length < MAX_PROBLEMS_KEPT) firstProblems.push(`line ${line}: ${problem}`)
      },
    },
  )
  const flush = async (line: number) => {
    await writing
    const count = batch.length
    const write = async (chunk: readonly (readonly [string, ColumnsBody])[]) => {
      const leftOut = await access.writePoints(new Map(chunk))
      tooOld += leftOut
    }
    writing = chunks.each([...batch.take()], write).then(() => {
      written += count
      writtenToLine = line
      options.onProgress({ points: written, writtenToLine })
    })
    // Its failure is seen where it is waited for.
    writing.catch(() => {})
  }
  const isStopped = () => problems > 0 && !options.skipBad

  let line = 0
  let isFirst = true
  for await (const row of rows) {
    signal.throwIfAborted()
    // Units are those of the whole file, also where its beginning is passed over.
    const units = isFirst ? unitsOf(row.cells, layout, options) : null
    isFirst = false
    if (units !== null) {
      await options.onUnits(units, row.line)
      continue
    }
    if (row.line < options.fromLine) continue
    line = row.line
    rowCount++
    read(row)
    // After a bad row the rest is only read, to tell all that is wrong at once.
    if (!isStopped() && batch.length >= options.batchPoints) await flush(line)
    if (options.dryRun || isStopped()) options.onProgress({ points, writtenToLine })
  }
  if (!isStopped() && batch.length > 0) await flush(line)
  await writing
  return {
    layout: layout.kind,
    rows: rowCount - (comments - before),
    points,
    written,
    tooOld,
    tags,
    comments,
    unclearTimes,
    duplicates,
    firstPoints,
    problems,
    firstProblems,
    writtenToLine,
  }
}

/** The header, behind comments; one that is a comment itself (`#timestamp,a`) loses its `#`. */
async function readHeader(
  rows: AsyncGenerator<CsvRow>,
): Promise<{ readonly header: readonly string[]; readonly comments: number }> {
  for (let comments = 0; ; comments++) {
    const row = await rows.next()
    if (row.done) throw new CommandError('The file is empty: a header row is expected')
    const { cells } = row.value
    const [first = '', ...others] = cells
    if (!first.trimStart().startsWith('#')) return { header: cells, comments }
    const name = first.replace(/^\s*#\s*/, '')
    if (others.length > 0 && isTimeName(name)) return { header: [name, ...others], comments }
  }
}

/**
 * The units in the first row below the header of a wide file: nothing in it is a number or a time.
 * @returns by column name; `null` for a row of data
 */
function unitsOf(
  cells: readonly string[],
  layout: Layout,
  { decimalComma, emptyTexts, badTexts }: ImportOptions,
): ReadonlyMap<string, string> | null {
  if (layout.kind !== 'wide' || cells.length !== layout.columns) return null
  const timeCell = cells[layout.time]!
  if (/\d|^\s*#/.test(timeCell)) return null
  const units = new Map<string, string>()
  for (const { column, header } of layout.tags) {
    const cell = cells[column]!.trim()
    if (emptyTexts.has(cell) || badTexts.has(cell) || parseNumber(cell, decimalComma) !== null) return null
    const unit = /^\[(.*)\]$|^\((.*)\)$/.exec(cell)
    const text = (unit?.[1] ?? unit?.[2] ?? cell).trim()
    if (text !== '') units.set(header, text)
  }
  return units.size === 0 ? null : units
}
