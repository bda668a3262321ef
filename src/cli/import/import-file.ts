import { systemTimeZone, type TimeZone } from '../../time/zone.ts'
import type { Access } from '../access.ts'
import { presentInstant } from '../clock.ts'
import { type CsvRow, readCsv } from '../csv/read.ts'
import type { TimeFormat } from '../csv/time-format.ts'
import { CommandError } from '../exit.ts'
import { Batch } from './batches.ts'
import { findLayout, type Layout, type LayoutOptions } from './layout.ts'
import { rowReader } from './rows.ts'

export interface ImportOptions extends LayoutOptions {
  readonly separator: string | null
  readonly encoding: string
  readonly zone: TimeZone | null
  readonly timeFormat: TimeFormat | null
  readonly decimalComma: boolean
  readonly emptyTexts: ReadonlySet<string>
  readonly addressOf: (name: string, layout: Layout['kind']) => string | null
  /** Points in one write request. */
  readonly batchPoints: number
  /** Rows that end before this line are passed over. */
  readonly fromLine: number
  /** Whether rows that cannot be understood are left out; otherwise the first one ends all writing. */
  readonly skipBad: boolean
  /** Whether everything is read and nothing written. */
  readonly dryRun: boolean
  /** Called when a batch is acknowledged, and now and then where nothing is written. */
  readonly onProgress: (progress: { readonly points: number; readonly writtenToLine: number | null }) => void
  /** Called once the header is understood, before the first write. */
  readonly onLayout: (layout: Layout) => Promise<void>
}

export interface ImportReport {
  readonly layout: Layout['kind']
  /** Rows of data, without the header and what was passed over. */
  readonly rows: number
  /** Points in the file, duplicates counted as often as they occur. */
  readonly points: number
  /** Of them, how many are acknowledged. */
  readonly written: number
  /** Addresses of the tags that points were found for. */
  readonly tags: ReadonlySet<string>
  readonly problems: number
  /** The first of them: `line 17: "abc" is no number`. */
  readonly firstProblems: readonly string[]
  /** Every row that ends up to this line is written; null when nothing is. */
  readonly writtenToLine: number | null
}

const MAX_PROBLEMS_KEPT = 20

/**
 * Reads a CSV file and writes its points in batches, in the order of the file; while one batch is being written the next
 * is read. An import that was cut off is done again, as a point that is written twice is still one point.
 * @throws CommandError for a header that cannot be understood; what the access throws, with the line up to which is written
 */
export async function importFile(
  source: AsyncIterable<Uint8Array>,
  access: Access,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<ImportReport> {
  const rows = readCsv(source, options)
  const header = await rows.next()
  if (header.done) throw new CommandError('The file is empty: a header row is expected')
  const layout = findLayout((header.value as CsvRow).cells, options)
  await options.onLayout(layout)

  const batch = new Batch()
  const tags = new Set<string>()
  const firstProblems: string[] = []
  let rowCount = 0
  let points = 0
  let written = 0
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
        if (!options.dryRun) batch.add(address, at, value, isBad)
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
    writing = access.writePoints(batch.take()).then(() => {
      written += count
      writtenToLine = line
      options.onProgress({ points: written, writtenToLine })
    })
    // Its failure is seen where it is waited for.
    writing.catch(() => {})
  }
  const isStopped = () => problems > 0 && !options.skipBad

  let line = 0
  for await (const row of rows) {
    signal.throwIfAborted()
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
    rows: rowCount,
    points,
    written,
    tags,
    problems,
    firstProblems,
    writtenToLine,
  }
}
