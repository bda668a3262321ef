import { Damage } from '../damage.ts'
import { addChecksum } from './page-checksum.ts'
import {
  joinSummaries,
  type PartSummary,
  readSummary,
  SUMMARY_DOUBLES,
  writeSummary,
} from './part-summary.ts'

/**
 * A page of summaries: those of up to SUMMED_BLOCKS blocks of a run that follow each other, and before them the summary
 * of them all. It stands in the file behind the last of these blocks.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u8 | version, 1 |
 * | 1 | u8 | 0 |
 * | 2 | u16 | n, number of blocks, at least 1 |
 * | 4 | u32 | CRC-32 of the page with 0 in this place |
 * | 8 | f64 x 24 | summary of all (part-summary.ts); left out where n is 1 |
 * | | f64 x 24 x n | summary of each block |
 */
const VERSION = 1
const HEADER_BYTES = 8
export const SUMMED_BLOCKS = 30

export function summaryPageBytes(blocks: number): number {
  return HEADER_BYTES + 8 * SUMMARY_DOUBLES * (blocks === 1 ? 1 : blocks + 1)
}

/** @param summaries  1 to SUMMED_BLOCKS */
export function encodeSummaryPage(summaries: readonly PartSummary[]): Uint8Array<ArrayBuffer> {
  const page = new Uint8Array(summaryPageBytes(summaries.length))
  const doubles = new Float64Array(page.buffer)
  page[0] = VERSION
  page[2] = summaries.length
  let at = HEADER_BYTES >> 3
  const all = summaries.length === 1 ? summaries : [joinSummaries(summaries), ...summaries]
  for (const summary of all) {
    writeSummary(doubles, at, summary)
    at += SUMMARY_DOUBLES
  }
  addChecksum(page)
  return page
}

/** A page that was read. */
export class SummaryPage {
  readonly count: number
  readonly #doubles: Float64Array

  /** @param page  verified, in memory of its own. Throws Damage. */
  constructor(page: Uint8Array<ArrayBuffer>) {
    if (page.length < HEADER_BYTES || page[0] !== VERSION) {
      throw new Damage('a page of summaries is written in an unknown way')
    }
    this.count = page[2]! | (page[3]! << 8)
    if (this.count === 0 || summaryPageBytes(this.count) !== page.length) {
      throw new Damage('a page of summaries does not fit its size')
    }
    this.#doubles = new Float64Array(page.buffer, page.byteOffset, page.length >> 3)
  }

  /** Of all blocks. */
  get whole(): PartSummary {
    return readSummary(this.#doubles, HEADER_BYTES >> 3)
  }

  /** Of one block, by its number in the page. */
  summary(block: number): PartSummary {
    const place = this.count === 1 ? 0 : block + 1
    return readSummary(this.#doubles, (HEADER_BYTES >> 3) + place * SUMMARY_DOUBLES)
  }
}
