import { unavailable } from '../../historian/remote/unavailable.ts'

/** One cell of an answer; a time is in microseconds, a number of 64 bits is the nearest double. */
export type Cell = number | string | boolean | null

/** A chunk of a series, as a chunked answer brings it. */
export interface SeriesChunk {
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly columns: readonly string[]
  readonly values?: readonly (readonly Cell[])[]
}

/** A line of a chunked answer. */
export interface AnswerLine {
  readonly error?: string
  readonly results?: readonly {
    readonly statement_id?: number
    readonly series?: readonly SeriesChunk[]
    readonly error?: string
  }[]
}

/** A chunk has so many rows at most, and a row is short; a longer line is no answer of InfluxDB's. */
const MAX_LINE_BYTES = 64 * 1024 ** 2

const LINE_FEED = 10

/**
 * The lines of an answer, each a JSON document, as they arrive: memory is that of one line. A line that is none is
 * given as its `error`: InfluxDB writes one in place of a result with a number that JSON has not.
 */
export async function* answerLines(
  body: AsyncIterable<Buffer>,
  historian: string,
): AsyncGenerator<AnswerLine> {
  let chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      chunks.push(chunk.subarray(start, end))
      const line = parseLine(chunks, historian)
      if (line !== null) yield line
      chunks = []
      bytes = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    bytes += chunk.length - start
    if (bytes > MAX_LINE_BYTES)
      throw unavailable(historian, 'its answer is not understood (a line is too long)')
    chunks.push(chunk.subarray(start))
  }
  const line = parseLine(chunks, historian)
  if (line !== null) yield line
}

function parseLine(chunks: readonly Buffer[], historian: string): AnswerLine | null {
  const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8').trim()
  if (text === '') return null
  if (text.startsWith('json: ')) return { error: text }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw unavailable(historian, 'its answer is not understood', cause)
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw unavailable(historian, 'its answer is not understood')
  return parsed as AnswerLine
}
