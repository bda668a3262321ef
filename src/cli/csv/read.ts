import { type CsvError, parse } from 'csv-parse'
import { CommandError } from '../exit.ts'

/** A row of a CSV file. */
export interface CsvRow {
  /** Line of the file on which the row ends, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

export interface CsvOptions {
  /** One character; null finds it from the first line: the most frequent of ; tab , and | outside quotes. */
  readonly separator: string | null
  /** A label of the WHATWG encoding standard: `utf-8`, `windows-1252`, `utf-16le`. */
  readonly encoding: string
}

/** No sensible row is longer; an unclosed quote would otherwise take the remainder of the file into memory. */
const MAX_ROW_LENGTH = 16 * 1024 ** 2

/**
 * The rows of a CSV text (RFC 4180: quotes doubled inside quotes, any line end), read as they come; empty lines are
 * left out, rows may differ in length.
 * @throws CommandError for a text that is not in the encoding, or a quote that is not closed, with the line
 */
export async function* readCsv(
  source: AsyncIterable<Uint8Array>,
  { separator, encoding }: CsvOptions,
): AsyncGenerator<CsvRow> {
  const text = decode(source, encoding)
  const head = await firstLine(text)
  const parser = parse({
    delimiter: separator ?? findSeparator(head),
    relax_column_count: true,
    skip_empty_lines: true,
    info: true,
    max_record_size: MAX_ROW_LENGTH,
  })
  const feeding = feed(parser, head, text)
  try {
    for await (const item of parser as AsyncIterable<{ info: { lines: number }; record: string[] }>) {
      yield { line: item.info.lines, cells: item.record }
    }
    await feeding
  } catch (error) {
    parser.destroy()
    throw explained(error)
  } finally {
    feeding.catch(() => {})
  }
}

/**
 * The separator of a header line, after comments that begin with #: the most frequent candidate outside quotes, a comma
 * when there is none.
 */
export function findSeparator(header: string): string {
  const lines = header.replace(/"[^"]*"/g, '').split(/\r\n|\n|\r/)
  const line = lines.find((one) => one !== '' && !one.startsWith('#')) ?? lines[0]!
  let best = ','
  let most = 0
  for (const candidate of [';', '\t', ',', '|']) {
    const count = line.split(candidate).length - 1
    if (count > most) {
      best = candidate
      most = count
    }
  }
  return best
}

async function* decode(source: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new CommandError(
      `The encoding ${encoding} is not known: utf-8, windows-1252 or utf-16le is expected`,
    )
  }
  try {
    // The decoder takes the byte order mark away.
    for await (const bytes of source) yield decoder.decode(bytes, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new CommandError(
      `The file is not ${decoder.encoding} text: say what it is with --encoding, such as windows-1252 or utf-16le`,
    )
  }
}

/** Takes chunks until a whole first line is there. */
async function firstLine(text: AsyncGenerator<string>): Promise<string> {
  let head = ''
  // Lines before the header that begin with # are comments, and tell nothing about separators.
  while (!/(?:^|[\r\n])[^#\r\n][^\r\n]*[\r\n]/.test(head) && head.length < MAX_ROW_LENGTH) {
    const { value, done } = await text.next()
    if (done) break
    head += value
  }
  return head
}

async function feed(
  parser: ReturnType<typeof parse>,
  head: string,
  rest: AsyncIterable<string>,
): Promise<void> {
  try {
    await give(parser, head)
    for await (const chunk of rest) await give(parser, chunk)
    parser.end()
  } catch (error) {
    parser.destroy(error as Error)
  }
}

async function give(parser: ReturnType<typeof parse>, text: string): Promise<void> {
  if (parser.destroyed || parser.write(text)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      parser.off('drain', go)
      parser.off('close', go)
      resolve()
    }
    parser.once('drain', go)
    parser.once('close', go)
  })
}

function explained(error: unknown): unknown {
  const { code, lines } = error as CsvError & { lines?: number }
  if (typeof code !== 'string' || !code.startsWith('CSV_')) return error
  const where = lines === undefined ? '' : `line ${lines}: `
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new CommandError(
      `${where}a row is longer than ${MAX_ROW_LENGTH} characters; is a quote not closed?`,
    )
  }
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new CommandError(`${where}a quote is not closed`)
  return new CommandError(`${where}${(error as Error).message}`)
}
