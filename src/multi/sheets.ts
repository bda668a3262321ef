/** Memory that a part of an answer is written into, as bytes and as numbers. */
export interface Sheet {
  readonly bytes: Buffer
  /** Of the same memory. */
  readonly view: DataView
}

/** An empty sheet; what stood in its memory before is still there. */
export function makeSheet(length: number): Sheet {
  const bytes = Buffer.allocUnsafeSlow(length)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) }
}

/** Length of the sheets that are used again, in bytes: a piece of an answer and what writing it may go beyond. */
const SHEET_BYTES = 163_840
/** Sheets that are kept while nobody needs them: enough for some answers that go out at once, and not much memory. */
const MOST_KEPT = 16

/**
 * Sheets that are used again once what was written on them has been sent. New memory for each piece of a large answer would cost
 * as much as writing it: the system clears it page by page, it is never in the processor's cache, and the garbage collector runs for it.
 */
export class Sheets {
  readonly #kept: Sheet[] = []
  /** Those that were taken, by their memory; one that does not come back is garbage like any other. */
  readonly #taken = new WeakMap<ArrayBufferLike, Sheet>()

  /** @param length bytes that are needed; the sheet may have more */
  take(length: number): Sheet {
    if (length > SHEET_BYTES || length < SHEET_BYTES / 4) return makeSheet(length)
    const sheet = this.#kept.pop() ?? makeSheet(SHEET_BYTES)
    this.#taken.set(sheet.bytes.buffer, sheet)
    return sheet
  }

  /** Takes back the sheet of a piece that nobody reads any more; other memory is left alone. */
  giveBack(piece: Uint8Array): void {
    const sheet = this.#taken.get(piece.buffer)
    if (sheet === undefined) return
    this.#taken.delete(piece.buffer)
    if (this.#kept.length < MOST_KEPT) this.#kept.push(sheet)
  }
}
