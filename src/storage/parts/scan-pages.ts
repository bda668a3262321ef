import { COMPRESSED_BYTES, COMPRESSED_VERSION } from '../blocks/block.ts'
import { ByteReader } from '../blocks/varint.ts'
import { Damage, damageOf } from '../damage.ts'
import { Pacer } from '../pause.ts'
import type { PageReader } from './block-cache.ts'
import { MAGIC } from './footer.ts'
import { aligned, isSound } from './page-checksum.ts'
import { IndexPage, indexPageBytes } from './run-index.ts'
import { SmallPage } from './small-page.ts'
import { SUMMED_BLOCKS, summaryPageBytes } from './summary-page.ts'

/** Read at once; pages of the index may be longer. */
const WINDOW_BYTES = 1 << 20
/** Pages and blocks other than those of the index are shorter. */
const SHORT_BYTES = 1 << 16
/**
 * What looks like a page and is none costs a checksum, and mostly a read, of its length. These have this many times the
 * bytes of the file in all, since numbers within a damaged page may look so at each of its places. Pages behind are
 * lost then.
 */
const GUESSED_TIMES = 16
/** No page of the index of a part is longer. */
const LONGEST_INDEX = 64 << 20

/** Where the disk does not give more at once, pages of the system are read one by one. */
const SECTOR_BYTES = 4_096

/** What may stand at a place, and its size if it does. */
interface Guess {
  readonly kind: 'small' | 'index' | 'other'
  readonly bytes: number
}

/** What stands at a place: a page of runs or of the index, a block or a page of summaries, or what is neither. */
export type Found =
  | { readonly kind: 'small'; readonly at: number; readonly bytes: number; readonly page: SmallPage }
  | { readonly kind: 'index'; readonly at: number; readonly bytes: number; readonly page: IndexPage }
  | { readonly kind: 'other' }
  | { readonly kind: 'nothing' }

const OTHER: Found = { kind: 'other' }
const NOTHING: Found = { kind: 'nothing' }

/**
 * Finds the pages of a part whose table is lost: pages and blocks follow each other, and what fits its checksum says
 * how long it is. Behind what is damaged it goes on at each multiple of 8 bytes.
 * Rejects with the signal's reason.
 * @param end  of the pages, or of the file
 */
export async function* scanPages(
  reader: PageReader,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<Found, void> {
  const pacer = new Pacer()
  let window: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  let from = 0
  let left = GUESSED_TIMES * (end + WINDOW_BYTES)
  let wasFound = true
  for (let at = MAGIC.length; at + 8 <= end; ) {
    if (pacer.isDue()) await pacer.pause(signal)
    const isInside = at - from + SHORT_BYTES <= window.length || from + window.length === end
    if (!isInside || at < from || at >= from + window.length) {
      from = at
      window = await readWindow(reader, at, Math.min(WINDOW_BYTES, end - at))
    }
    let length = 0
    let found = NOTHING
    for (const guess of guesses(window, at - from)) {
      const { bytes } = guess
      if (length > 0 || at + bytes > end || bytes > left) continue
      const isHere = at - from + bytes <= window.length
      const page = isHere ? window.slice(at - from, at - from + bytes) : await readWindow(reader, at, bytes)
      const fitting = isSound(page) ? foundAt(at, guess, page) : null
      if (fitting === null) {
        left -= bytes
        continue
      }
      length = bytes
      found = fitting
    }
    if (length > 0 || wasFound) yield found
    wasFound = length > 0
    at += length > 0 ? length : 8
  }
}

/** Bytes of the file, with zeros where the disk does not give them: no page begins there. */
async function readWindow(reader: PageReader, at: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const window = new Uint8Array(bytes)
  const isGiven = async (from: number, to: number) => {
    try {
      await reader.readInto(window.subarray(from, to), at + from)
      return true
    } catch (error) {
      damageOf(error)
      return false
    }
  }
  if (await isGiven(0, bytes)) return window
  for (let from = 0; from < bytes; ) {
    const to = Math.min(bytes, from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES))
    if (!(await isGiven(from, to))) window.fill(0, from, to)
    from = to
  }
  return window
}

/** `null` for what is not of the kind that it looks like. */
function foundAt(at: number, { kind, bytes }: Guess, page: Uint8Array<ArrayBuffer>): Found | null {
  if (kind === 'other') return OTHER
  try {
    return kind === 'small'
      ? { kind, at, bytes, page: new SmallPage(page) }
      : { kind, at, bytes, page: new IndexPage(page) }
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}

const varints = new ByteReader()

function guesses(bytes: Uint8Array, at: number): readonly Guess[] {
  if (at + 32 > bytes.length || bytes[at + 1] !== 0) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at)
  const count = view.getUint16(2, true)
  if (bytes[at] === COMPRESSED_VERSION) return [{ kind: 'other', bytes: blockBytes(view, count) }]
  if (bytes[at] !== 1) return []
  if (count === 0) {
    const size = indexPageBytes(view.getUint32(8, true), view.getUint32(12, true))
    return size <= LONGEST_INDEX ? [{ kind: 'index', bytes: size }] : []
  }
  const found: Guess[] = []
  if (count <= SUMMED_BLOCKS) found.push({ kind: 'other', bytes: summaryPageBytes(count) })
  const runs = view.getUint32(20, true)
  if (runs < SHORT_BYTES) found.push({ kind: 'small', bytes: smallBytes(bytes, at, count, runs) })
  return found
}

/** Bytes of a compressed block with so many chunks; 0 when it cannot be one. */
function blockBytes(view: DataView, chunks: number): number {
  let at = 8 + 128
  for (let i = 0; i < chunks; i++) {
    if (at + 2 > view.byteLength || at > COMPRESSED_BYTES) return 0
    const bytes = view.getUint16(at, true) * 8
    if (bytes === 0) return 0
    at += bytes
  }
  return at
}

/** Bytes of a page of small runs; 0 when it cannot be one. */
function smallBytes(bytes: Uint8Array, at: number, count: number, runs: number): number {
  varints.open(bytes, at + 24, bytes.length)
  try {
    for (let i = 0; i < 2 * count - 1; i++) varints.varint()
  } catch (error) {
    if (error instanceof Damage) return 0
    throw error
  }
  return aligned(varints.at - at + runs)
}
