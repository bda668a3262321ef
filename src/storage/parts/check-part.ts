import type { PointColumns } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { damageOf } from '../damage.ts'
import type { PageReader } from './block-cache.ts'
import { MAGIC } from './footer.ts'
import { INDEX, SMALL, SUMMARIES, TABLE } from './page-kinds.ts'
import type { PageList, PageTable } from './page-table.ts'
import type { PartCheck, PartInfo, Section } from './part.ts'
import { joinSummaries, type PartSummary, summaryOf } from './part-summary.ts'
import { LargeRun } from './runs.ts'
import type { TagSet } from './tag-set.ts'

/** What a check looks at. */
export interface CheckedPart {
  readonly info: PartInfo
  readonly reader: PageReader
  readonly table: Section
  readonly small: TagSet
  readonly large: TagSet
}

/** Reads and decodes all of a part; see Part.check. */
export async function checkPart(part: CheckedPart, signal: AbortSignal): Promise<PartCheck> {
  const check = new Check(part, signal)
  await check.run()
  return { points: check.points, blocks: check.blocks, problems: check.problems }
}

class Check {
  points = 0
  blocks = 0
  readonly problems: string[] = []
  readonly #part: CheckedPart
  readonly #signal: AbortSignal
  readonly #view = new BlockView()
  /** Bytes of the file that belong to pages and blocks. */
  #bytes = MAGIC.length

  constructor(part: CheckedPart, signal: AbortSignal) {
    this.#part = part
    this.#signal = signal
  }

  async run(): Promise<void> {
    const { table, info } = this.#part
    const pages = await this.#readTable()
    if (pages === null) return
    await this.#checkSmall(pages.small)
    await this.#checkLarge(pages.index)
    if (this.problems.length > 0) return
    if (this.points !== info.points) this.#say('its points are not as many as it says')
    if (this.#bytes !== table.at) this.#say('its pages do not fill it')
  }

  async #readTable(): Promise<PageTable | null> {
    const { reader, table } = this.#part
    let pages: PageTable | null = null
    await this.#try(async () => {
      pages = TABLE.parse(await reader.read(table.at, table.bytes))
    })
    return pages
  }

  async #checkSmall(pages: PageList): Promise<void> {
    const { reader, small } = this.#part
    let tags = 0
    for (let number = 0; number < pages.count; number++) {
      await this.#try(async () => {
        const page = SMALL.parse(await reader.read(pages.at(number), pages.bytes(number)))
        this.#bytes += pages.bytes(number)
        if (page.tags[0] !== pages.firstTag(number)) reader.damaged('a page begins with another tag')
        for (let run = 0; run < page.tags.length; run++) {
          if (!small.has(page.tags[run]!)) reader.damaged('a page has a tag that the part has not')
          this.#checkTimes(page.points(run))
          this.blocks++
          tags++
        }
      })
    }
    if (this.problems.length === 0 && tags !== small.size) this.#say('tags are missing in its pages')
  }

  async #checkLarge(pages: PageList): Promise<void> {
    const { reader, large } = this.#part
    let tags = 0
    for (let number = 0; number < pages.count; number++) {
      await this.#try(async () => {
        const page = INDEX.parse(await reader.read(pages.at(number), pages.bytes(number)))
        this.#bytes += pages.bytes(number)
        const ids = page.columns.tags
        if (ids[0] !== pages.firstTag(number)) reader.damaged('a page of the index begins with another tag')
        for (let run = 0; run < ids.length; run++) {
          if (!large.has(ids[run]!)) reader.damaged('the index has a tag that the part has not')
          await this.#checkRun(new LargeRun(reader, page, run))
          tags++
        }
      })
    }
    if (this.problems.length === 0 && tags !== large.size) this.#say('tags are missing in its index')
  }

  async #checkRun(run: LargeRun): Promise<void> {
    const { reader } = this.#part
    const exact: string[] = []
    for (let block = 0; block < run.blocks; block++) {
      await this.#try(async () => {
        if (block > 0 && !(run.blockFirst(block) > run.blockLast(block - 1))) {
          reader.damaged('the blocks of a tag overlap')
        }
        const bytes = await reader.read(run.blockAt(block), run.blockBytes(block))
        this.#bytes += bytes.length
        run.openBytes(block, bytes, this.#view)
        const points = this.#view.columns()
        this.#checkTimes(points)
        this.blocks++
        exact.push(exactOf(summaryOf(points, 0, points.times.length)))
      })
    }
    if (exact.length === run.blocks) await this.#checkSummaries(run, exact)
  }

  /** @param exact  of each block, from its points */
  async #checkSummaries(run: LargeRun, exact: readonly string[]): Promise<void> {
    const { reader } = this.#part
    for (let number = 0; number < run.pages; number++) {
      await this.#try(async () => {
        const bytes = await reader.read(run.summariesAt(number), run.summariesBytes(number))
        this.#bytes += bytes.length
        const page = SUMMARIES.parse(bytes)
        const start = run.pageStart(number)
        const all = Array.from({ length: page.count }, (_, block) => page.summary(block))
        const fits = all.every((summary, block) => exactOf(summary) === exact[start + block])
        if (!fits || exactOf(page.whole) !== exactOf(joinSummaries(all))) {
          reader.damaged('a page of summaries contradicts the points')
        }
      })
    }
  }

  #checkTimes({ times }: PointColumns): void {
    for (let i = 1; i < times.length; i++) {
      if (!(times[i]! > times[i - 1]!)) this.#part.reader.damaged('the times of a tag are not ascending')
    }
    this.points += times.length
  }

  /** Notes what cannot be read and goes on. */
  async #try(look: () => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted()
    try {
      await look()
    } catch (error) {
      this.#say(damageOf(error).message)
    }
  }

  #say(what: string): void {
    const { name } = this.#part.info
    this.problems.push(what.startsWith('part ') ? what : `part ${name}: ${what}`)
  }
}

/** What of a summary does not depend on the order in which numbers are added up. */
function exactOf(summary: PartSummary): string {
  const { count, numGood, firstTime, lastTime, min, max, firstGoodTime, lastGoodTime, first, last } = summary
  const { minTime, maxTime, transitions, longestGap } = summary
  return [
    ...[count, numGood, firstTime, lastTime, firstGoodTime, lastGoodTime, minTime, maxTime],
    ...[transitions, longestGap, min, max, first, last],
  ].join()
}
