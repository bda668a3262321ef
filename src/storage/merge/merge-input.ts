import { systemCode } from '../../errors/system-code.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { ColumnsMemory } from '../blocks/sort-memory.ts'
import { Damage } from '../damage.ts'
import { isDiskError } from '../files/files.ts'
import { PageMemory } from '../parts/block-cache.ts'
import type { FilePart } from '../parts/file-part.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartSummary } from '../parts/part-summary.ts'
import { LargeRun, SmallRun } from '../parts/runs.ts'
import { MOST_SMALL } from '../parts/small-run.ts'
import { SmallWalk } from './small-walk.ts'

/** An input cannot be read. */
export class InputDamage extends Damage {
  /** Name of the input. */
  readonly part: string

  constructor(part: string, message: string) {
    super(message)
    this.part = part
  }
}

/** Why an input cannot be read that is not known to be damaged: the disk does not give it, or its file is missing. */
export type UnreadableCode = 'EIO' | 'ENOENT'

/** The disk does not give what an input holds (EIO), or somebody has removed its file (ENOENT). */
export class InputUnreadable extends Error {
  /** Name of the input. */
  readonly part: string
  readonly code: UnreadableCode

  constructor(part: string, message: string, code: UnreadableCode) {
    super(message)
    this.name = 'InputUnreadable'
    this.part = part
    this.code = code
  }
}

/** Has Damage, and an error of the disk, say which input cannot be read. */
export function ofInput<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) throw new InputDamage(name, error.message)
    const code = systemCode(error) === 'ENOENT' ? 'ENOENT' : isDiskError(error) ? 'EIO' : null
    throw code === null ? error : new InputUnreadable(name, (error as Error).message, code)
  }
}

/** A part that is merged, read tag by tag. All throw InputDamage and InputUnreadable. */
export class MergeInput {
  readonly info: PartInfo
  readonly #part: FilePart
  readonly #small: SmallWalk
  readonly #large: Iterator<number>
  #largeTag = 0
  /** For the block that is decoded. */
  readonly #scratch = new ColumnsMemory()
  /** The tag in hand; Infinity behind the last. */
  tag = 0

  constructor(part: FilePart) {
    this.info = part.info
    this.#part = part
    this.#small = ofInput(part.info.name, () => new SmallWalk(part))
    this.#large = part.largeTags[Symbol.iterator]()
    this.#nextLarge()
  }

  /** Whether the tag in hand has a small run. */
  get isSmall(): boolean {
    return this.tag !== this.#largeTag
  }

  /** Goes on to the next tag. */
  next(): void {
    if (!this.isSmall) this.#nextLarge()
    else {
      ofInput(this.info.name, () => this.#small.next())
      this.tag = Math.min(this.#small.tag, this.#largeTag)
    }
  }

  #nextLarge(): void {
    const { done, value } = this.#large.next()
    this.#largeTag = done === true ? Number.POSITIVE_INFINITY : value
    this.tag = Math.min(this.#small.tag, this.#largeTag)
  }

  /** Decodes the small run of the tag in hand into columns from index `to` on. Gives the number of points. */
  decode(target: PointColumns, to: number): number {
    return ofInput(this.info.name, () => this.#small.decode(target, to))
  }

  /** The points of the tag in hand. */
  run(): InputRun {
    if (!this.isSmall)
      return ofInput(this.info.name, () => new InputRun(this.info, this.#part.run(this.tag)!, this.#scratch))
    const points = makeColumns(MOST_SMALL)
    const count = this.decode(points, 0)
    return new InputRun(this.info, new SmallRun(this.tag, sliceColumns(points, 0, count)), this.#scratch)
  }
}

const view = new BlockView()
/** Of the block that is looked at. A merge reads each once. */
const blockMemory = new PageMemory()

/** The points of a tag in an input. All throw InputDamage and InputUnreadable. */
export class InputRun {
  readonly info: PartInfo
  readonly #small: SmallRun | null
  readonly #large: LargeRun | null
  readonly #scratch: ColumnsMemory

  constructor(info: PartInfo, run: SmallRun | LargeRun, scratch: ColumnsMemory) {
    this.info = info
    this.#scratch = scratch
    this.#small = run instanceof SmallRun ? run : null
    this.#large = run instanceof LargeRun ? run : null
  }

  /** The points of a run with few of them; `null` for one in compressed blocks. */
  get small(): PointColumns | null {
    return this.#small?.points ?? null
  }

  get blocks(): number {
    return this.#large?.blocks ?? 1
  }

  blockFirst(block: number): number {
    return (this.#large ?? this.#small!).blockFirst(block)
  }

  blockLast(block: number): number {
    return (this.#large ?? this.#small!).blockLast(block)
  }

  /** Number of points of a block. */
  blockCount(block: number): number {
    return (this.#large ?? this.#small!).blockCount(block)
  }

  /** Bytes of a compressed block; 0 for a small run. */
  blockBytes(block: number): number {
    return this.#large?.blockBytes(block) ?? 0
  }

  /** A compressed block as it is; its header is compared with the index. Lent until another one is read. */
  block(block: number): Uint8Array {
    return ofInput(this.info.name, () => this.#open(block))
  }

  /** What is known of a compressed block; `null` when only its points say it. */
  summary(block: number): PartSummary | null {
    return ofInput(this.info.name, () => this.#large!.blockSummary(block))
  }

  /** The points of a block, decoded; valid until those of another one of the same input are. */
  points(block: number): PointColumns {
    if (this.#small !== null) return this.#small.points
    return ofInput(this.info.name, () => {
      this.#open(block)
      const columns = this.#scratch.columns(view.count)
      view.copyTo(columns, 0, 0, view.count)
      return sliceColumns(columns, 0, view.count)
    })
  }

  #open(block: number): Uint8Array {
    const bytes = this.#large!.blockInto(blockMemory, block)
    this.#large!.openBytes(block, bytes, view)
    return bytes
  }
}
