import { compareNames } from '../../series/tag-names.ts'
import { type EntryView, HAS_DESCRIPTION, UTF16 } from './tag-entry.ts'

/** The texts that tags are put in order by. */
export type OrderKind = 'name' | 'description'

/**
 * Bytes of a description that its order looks at: longer ones that begin alike stand next to each other, in no order.
 */
export const DESCRIPTION_BYTES = 120

/** Compares texts of entries by their code points, as compareNames does. UTF-8 has that order. */
export function compareEntries(kind: OrderKind, a: EntryView, b: EntryView): number {
  if (((a.flags | b.flags) & UTF16) !== 0) return compareNames(textOf(kind, a), textOf(kind, b))
  const [left, right] = [a.bytes, b.bytes]
  const [leftStart, rightStart] = [startOf(kind, a), startOf(kind, b)]
  const leftLength = lengthOf(kind, a)
  const rightLength = lengthOf(kind, b)
  const length = Math.min(leftLength, rightLength)
  for (let i = 0; i < length; i++) {
    const difference = left[leftStart + i]! - right[rightStart + i]!
    if (difference !== 0) return difference
  }
  return leftLength - rightLength
}

/** A text as entries are compared with it. */
export interface ComparedText {
  readonly text: string
  readonly utf8: Uint8Array
}

/** The name of an entry compared with a text. */
export function compareName(entry: EntryView, { text, utf8 }: ComparedText): number {
  if ((entry.flags & UTF16) !== 0 || !text.isWellFormed()) return compareNames(entry.nameText(), text)
  const length = entry.description - entry.name
  return compareBytes(entry, entry.name, Math.min(length, utf8.length), utf8) || length - utf8.length
}

/** Whether two entries have the same name; some that are stored in other ways count as others. */
export function hasSameName(a: EntryView, b: EntryView): boolean {
  const length = a.description - a.name
  if (((a.flags ^ b.flags) & UTF16) !== 0 || b.description - b.name !== length) return false
  for (let i = 0; i < length; i++) if (a.bytes[a.name + i] !== b.bytes[b.name + i]) return false
  return true
}

/** As much of an entry's text as a beginning is long, compared with it: 0 when the text begins so. */
export function compareBeginning(kind: OrderKind, entry: EntryView, { text, utf8 }: ComparedText): number {
  if ((entry.flags & UTF16) !== 0) return compareNames(textOf(kind, entry).slice(0, text.length), text)
  const length = Math.min(lengthOf(kind, entry), utf8.length)
  return compareBytes(entry, startOf(kind, entry), length, utf8) || length - utf8.length
}

export function hasDescription(entry: EntryView): boolean {
  return (entry.flags & HAS_DESCRIPTION) !== 0 && entry.units > entry.description
}

function compareBytes({ bytes }: EntryView, start: number, length: number, other: Uint8Array): number {
  for (let i = 0; i < length; i++) {
    const difference = bytes[start + i]! - other[i]!
    if (difference !== 0) return difference
  }
  return 0
}

function startOf(kind: OrderKind, entry: EntryView): number {
  return kind === 'name' ? entry.name : entry.description
}

function lengthOf(kind: OrderKind, entry: EntryView): number {
  return kind === 'name'
    ? entry.description - entry.name
    : Math.min(entry.units - entry.description, DESCRIPTION_BYTES)
}

/** Cut where `lengthOf` cuts, so that all entries are in one order whatever they are stored in. */
function textOf(kind: OrderKind, entry: EntryView): string {
  if (kind === 'name') return entry.nameText()
  const text = entry.descriptionText() ?? ''
  if (text.length * 3 <= DESCRIPTION_BYTES) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > DESCRIPTION_BYTES) break
    end += character.length
  }
  return text.slice(0, end)
}
