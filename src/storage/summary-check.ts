import { isDeepStrictEqual } from 'node:util'
import { KEY_BYTES, readBlockKey, TAIL, writeBlockKey } from './block-key.ts'
import { Damage } from './damage.ts'
import type { Store } from './environment.ts'
import type { Snapshot } from './snapshot.ts'
import { joinStretches, type Stretch } from './stretch.ts'
import { decodeSummary } from './summary-entry.ts'
import { type BlockSummary, SummaryPage } from './summary-page.ts'

/** A block as a check of the blocks found it. */
export interface FoundBlock {
  readonly tag: number
  readonly time: number
  /** `null` for a plain block, undefined for one that cannot be read, whose summary is not compared. */
  readonly stretch: Stretch | null | undefined
}

/** Compares what `summaries` says with the blocks, which come in order, without tails. */
export interface SummaryCheck {
  /** Takes the next block, and watches what it finds wrong. */
  add(block: FoundBlock, watch: (step: () => void) => void, snapshot: Snapshot): void
  /** After the last one. Throws Damage. */
  finish(snapshot: Snapshot): void
}

/** Of pages: every block has its place in one, in order, and each tells what the summaries of its blocks together do. */
export class PageCheck implements SummaryCheck {
  readonly #store: Store
  #blocks: FoundBlock[] = []
  #watch: (step: () => void) => void = () => {}
  #pages = 0
  #isSound = true

  constructor(store: Store) {
    this.#store = store
  }

  add(block: FoundBlock, watch: (step: () => void) => void, snapshot: Snapshot): void {
    if (this.#blocks.length > 0 && this.#blocks[0]!.tag !== block.tag) this.#checkTag(snapshot)
    this.#blocks.push(block)
    this.#watch = watch
  }

  finish(snapshot: Snapshot): void {
    if (this.#blocks.length > 0) this.#checkTag(snapshot)
    let entries = 0
    for (const _ of this.#store.getKeys({ ...snapshot.options })) entries++
    if (this.#isSound && entries > this.#pages) throw new Damage('there are summaries without a block')
  }

  /** Checks the pages of the tag whose blocks were taken. */
  #checkTag(snapshot: Snapshot): void {
    const blocks = this.#blocks
    this.#blocks = []
    this.#watch(() => {
      const isSound = this.#isSound
      this.#isSound = false
      let at = 0
      let newest = false
      for (const { time, page } of this.#pagesOf(blocks[0]!.tag, snapshot)) {
        checkPage(page, time, blocks.slice(at, at + page.count))
        at += page.count
        newest = time === TAIL
        this.#pages++
      }
      if (at < blocks.length || !newest) throw new Damage('the summary of a block is missing')
      this.#isSound = isSound
    })
  }

  #pagesOf(
    tag: number,
    snapshot: Snapshot,
  ): readonly { readonly time: number; readonly page: SummaryPage }[] {
    const start = writeBlockKey(new Uint8Array(KEY_BYTES), tag, Number.MIN_SAFE_INTEGER)
    const end = writeBlockKey(new Uint8Array(KEY_BYTES), tag, TAIL)
    const found = this.#store.getRange({ start, end, inclusiveEnd: true, ...snapshot.options })
    return [
      ...found.map(({ key, value }) => ({
        time: readBlockKey(key as Uint8Array).time,
        page: new SummaryPage(value),
      })),
    ]
  }
}

function checkPage(page: SummaryPage, keyTime: number, blocks: readonly FoundBlock[]): void {
  const summaries = page.blocks()
  if (keyTime !== TAIL && keyTime !== page.firstTime) {
    throw new Damage('a page of summaries stands under a wrong key')
  }
  for (const [i, { time, stretch }] of summaries.entries()) {
    const block = blocks[i]
    if (block === undefined || block.time > time) throw new Damage('there are summaries without a block')
    if (block.time < time) throw new Damage('the summary of a block is missing')
    if (block.stretch !== undefined && !isDeepStrictEqual(stretch, block.stretch)) {
      throw new Damage('the summary of a block is not that of the block')
    }
  }
  if (!isDeepStrictEqual(page.whole, wholeOf(summaries))) {
    throw new Damage('the summary of several blocks is not that of the blocks')
  }
}

function wholeOf(blocks: readonly BlockSummary[]): Stretch | null {
  const stretches = blocks.flatMap(({ stretch }) => (stretch === null ? [] : [stretch]))
  if (stretches.length < blocks.length) return null
  return stretches.length === 1 ? stretches[0]! : joinStretches(stretches)
}

/** Of entries, as format 1 had them: one for each block. */
export class EntryCheck implements SummaryCheck {
  readonly #store: Store
  /** False where they were not made yet. */
  readonly #hasEntries: boolean
  #expected = 0

  constructor(store: Store, hasEntries: boolean) {
    this.#store = store
    this.#hasEntries = hasEntries
  }

  add({ tag, time, stretch }: FoundBlock, watch: (step: () => void) => void, snapshot: Snapshot): void {
    if (!this.#hasEntries) return
    this.#expected++
    watch(() => {
      const key = writeBlockKey(new Uint8Array(KEY_BYTES), tag, time)
      const entry = this.#store.get(key, snapshot.options)
      if (entry === undefined) throw new Damage('the summary of a block is missing')
      const found = decodeSummary(entry)
      if (stretch !== undefined && !isDeepStrictEqual(found, stretch)) {
        throw new Damage('the summary of a block is not that of the block')
      }
    })
  }

  finish(snapshot: Snapshot): void {
    let entries = 0
    for (const _ of this.#store.getKeys({ ...snapshot.options })) entries++
    if (entries > this.#expected) throw new Damage('there are summaries without a block')
  }
}
