import { setImmediate } from 'node:timers/promises'
import { systemCode } from '../../errors/system-code.ts'
import { BlockView } from '../blocks/block.ts'
import { damageOf, damageOfPart } from '../damage.ts'
import type { Files } from '../files/files.ts'
import { BlockCache, PageReader } from './block-cache.ts'
import { readFooter } from './footer.ts'
import { INDEX, SMALL, TABLE } from './page-kinds.ts'
import type { PageList, PageTable } from './page-table.ts'
import type { PartInfo, Sections } from './part.ts'
import { summaryOf } from './part-summary.ts'
import { FilePartWriter } from './part-writer.ts'
import { type ReadHandle, readingAgain } from './read-again.ts'
import { findPages } from './recovered-part.ts'
import { LargeRun } from './runs.ts'
import { decodeTombstones } from './tombstones.ts'

/** What could be kept of a damaged part. */
export interface Salvage {
  /** The part with all that is intact, complete and synced; `null` when nothing is. */
  readonly info: PartInfo | null
  readonly points: number
  /** What is lost, one sentence each; empty when nothing is. */
  readonly lost: readonly string[]
}

/**
 * Copies all that is intact of a part into a new one with the same numbers: every page of small runs and every block
 * that fits its checksum and stands in a page of the index that does. The damaged one stays as it is. Rejects with
 * the system's errors but those of a disk that does not give something (EIO), and with the signal's reason; leaves
 * nothing then.
 * @param known  what the manifest says of the part; needed where its footer is lost, or its file is missing
 */
export async function salvagePart(
  files: Files,
  folder: string,
  {
    name,
    newName,
    known,
  }: { readonly name: string; readonly newName: string; readonly known: PartInfo | null },
  signal: AbortSignal,
): Promise<Salvage> {
  let file: ReadHandle
  try {
    file = readingAgain(files.open(`${folder}/${name}`))
  } catch (error) {
    if (known === null || systemCode(error) !== 'ENOENT') throw error
    return { info: null, points: 0, lost: lostWith(known, damageOfPart(error).message) }
  }
  const lost: string[] = []
  const size = file.size()
  const reader = new PageReader(file, name, size, new BlockCache(0))
  try {
    const footer = attempt(
      () => readFooter(file),
      (reason) => lost.push(`the footer of ${name}: ${reason}`),
    )
    const info = footer?.info ?? known
    if (info === null) return { info: null, points: 0, lost }
    const { firstSequence, lastSequence } = info
    const writer = new FilePartWriter(files, folder, newName, {
      firstSequence,
      lastSequence,
      replaces: [name],
    })
    try {
      const salvager = new Salvager(info, footer?.sections ?? info.sections ?? null, {
        reader,
        size,
        writer,
        lost,
        signal,
      })
      await salvager.run()
      const { points, tombstones } = salvager
      if (points > 0 || tombstones > 0) return { info: await writer.finish(), points, lost }
      writer.abandon()
      return { info: null, points, lost }
    } catch (error) {
      writer.abandon()
      throw error
    }
  } finally {
    reader.close()
  }
}

/** What is lost with all of a part. */
function lostWith(info: PartInfo, reason: string): readonly string[] {
  const lost: string[] = []
  if (info.points > 0) {
    lost.push(
      `its ${info.points} points from ${textOf(info.firstTime)} to ${textOf(info.lastTime)}: ${reason}`,
    )
  }
  if (info.tombstones > 0) lost.push(`${tombstonesOf(info)}: ${reason}`)
  return lost
}

const tombstonesOf = ({ tombstones }: PartInfo) =>
  `its ${tombstones} tombstones, so that points that were deleted may be back`

/** What `look` gives; `null` for what cannot be read. */
function attempt<T>(look: () => T, damaged: (reason: string) => void): T | null {
  try {
    return look()
  } catch (error) {
    damaged(damageOf(error).message)
    return null
  }
}

/** What a salvage works with. */
interface SalvageParts {
  readonly reader: PageReader
  /** Of the file. */
  readonly size: number
  readonly writer: FilePartWriter
  readonly lost: string[]
  readonly signal: AbortSignal
}

/** A run that can be read, or may be. */
interface FoundRun {
  readonly tag: number
  copy(): Promise<void>
}

class Salvager {
  points = 0
  tombstones = 0
  readonly #info: PartInfo
  readonly #sections: Sections | null
  readonly #size: number
  readonly #lost: string[]
  readonly #reader: PageReader
  readonly #writer: FilePartWriter
  readonly #signal: AbortSignal
  readonly #view = new BlockView()

  constructor(
    info: PartInfo,
    sections: Sections | null,
    { reader, size, writer, lost, signal }: SalvageParts,
  ) {
    this.#info = info
    this.#sections = sections
    this.#size = size
    this.#lost = lost
    this.#reader = reader
    this.#writer = writer
    this.#signal = signal
  }

  async run(): Promise<void> {
    if (this.#info.tombstones > 0) await this.#copyTombstones()
    const table = (await this.#readTable()) ?? (await this.#scan())
    if (table !== null) await this.#copyAll(this.#smallRuns(table.small), this.#largeRuns(table.index))
  }

  async #copyTombstones(): Promise<void> {
    await this.#try(tombstonesOf(this.#info), async () => {
      if (this.#sections === null) this.#reader.damaged('nothing says where they are')
      const { at, bytes } = this.#sections.tombstones
      for (const tombstone of decodeTombstones(await this.#reader.read(at, bytes))) {
        this.#writer.addTombstone(tombstone)
        this.tombstones++
      }
    })
  }

  async #readTable(): Promise<PageTable | null> {
    if (this.#sections === null) return null
    const { at, bytes } = this.#sections.table
    let table: PageTable | null = null
    await this.#try('the table of pages', async () => {
      table = TABLE.parse(await this.#reader.read(at, bytes))
    })
    return table
  }

  /** `null` where pages contradict each other: nobody knows which of them count. */
  async #scan(): Promise<PageTable | null> {
    const end = this.#sections?.table.at ?? this.#size
    const sought = { info: this.#info, sets: null }
    let table: PageTable | null = null
    await this.#try('all of its pages', async () => {
      table = (await findPages(this.#reader, end, sought, this.#signal)).table
    })
    if (table !== null) this.#lost.push('what stands in pages that cannot be found without the table')
    return table
  }

  /** Copies the runs of both in the order of their tags. */
  async #copyAll(small: AsyncGenerator<FoundRun>, large: AsyncGenerator<FoundRun>): Promise<void> {
    let nextSmall = await small.next()
    let nextLarge = await large.next()
    for (let count = 1; nextSmall.done !== true || nextLarge.done !== true; count++) {
      const isSmall =
        nextLarge.done === true || (nextSmall.done !== true && nextSmall.value.tag < nextLarge.value.tag)
      const next = isSmall ? nextSmall : nextLarge
      await (next.value as FoundRun).copy()
      if (isSmall) nextSmall = await small.next()
      else nextLarge = await large.next()
      if (count % 1_000 !== 0) continue
      await this.#writer.drain()
      await setImmediate()
    }
  }

  async *#smallRuns(pages: PageList): AsyncGenerator<FoundRun> {
    for (let number = 0; number < pages.count; number++) {
      const found: FoundRun[] = []
      await this.#try(`points of tags ${spanOf(pages, number)}, those with few of them`, async () => {
        const page = SMALL.parse(await this.#reader.read(pages.at(number), pages.bytes(number)))
        for (const [run, tag] of page.tags.entries()) {
          found.push({
            tag,
            copy: () => this.#try(`points of tag ${tag}`, () => this.#copySmall(tag, page.points(run))),
          })
        }
      })
      yield* found
    }
  }

  #copySmall(tag: number, points: Parameters<FilePartWriter['add']>[1]): void {
    this.#writer.add(tag, points)
    this.points += points.times.length
  }

  async *#largeRuns(pages: PageList): AsyncGenerator<FoundRun> {
    for (let number = 0; number < pages.count; number++) {
      const found: FoundRun[] = []
      await this.#try(`points of tags ${spanOf(pages, number)}, those with many of them`, async () => {
        const page = INDEX.parse(await this.#reader.read(pages.at(number), pages.bytes(number)))
        for (const [run, tag] of page.columns.tags.entries()) {
          found.push({ tag, copy: () => this.#copyLarge(new LargeRun(this.#reader, page, run)) })
        }
      })
      yield* found
    }
  }

  async #copyLarge(run: LargeRun): Promise<void> {
    let hasBegun = false
    for (let block = 0; block < run.blocks; block++) {
      const [first, last] = [run.blockFirst(block), run.blockLast(block)].map(textOf)
      await this.#try(
        `${run.blockCount(block)} points of tag ${run.tag} from ${first} to ${last}`,
        async () => {
          const bytes = await this.#reader.read(run.blockAt(block), run.blockBytes(block))
          run.openBytes(block, bytes, this.#view)
          const points = this.#view.columns()
          if (!hasBegun) this.#writer.beginRun(run.tag)
          hasBegun = true
          // Pages of summaries may be damaged, too.
          this.#writer.addBlock(bytes, summaryOf(points, 0, points.times.length))
          this.points += points.times.length
        },
      )
      await this.#writer.drain()
    }
    if (hasBegun) this.#writer.endRun()
  }

  /** Notes what is lost where something is damaged, and goes on. */
  async #try(what: string, copy: () => Promise<void> | void): Promise<void> {
    this.#signal.throwIfAborted()
    try {
      await copy()
    } catch (error) {
      this.#lost.push(`${what}: ${damageOf(error).message}`)
    }
  }
}

/** Tags that a page may have. */
function spanOf(pages: PageList, number: number): string {
  const first = pages.firstTag(number)
  return number + 1 < pages.count ? `${first} to ${pages.firstTag(number + 1) - 1}` : `from ${first} on`
}

function textOf(time: number): string {
  return new Date(time / 1_000).toISOString()
}
