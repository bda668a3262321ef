import { crc32 } from 'node:zlib'
import { Damage } from '../damage.ts'
import type { PartInfo, PartOrigin, Sections } from './part.ts'
import type { ReadHandle } from './read-again.ts'

/**
 * A part begins with MAGIC and ends with its footer: a JSON text, and behind it
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | f64 | where the text begins in the file |
 * | 8 | u32 | bytes of the text |
 * | 12 | u32 | CRC-32 of the text and the 12 bytes before |
 * | 16 | u8 x 8 | MAGIC |
 */
export const MAGIC = new TextEncoder().encode('TMPART1\n')
const TAIL_BYTES = 24
/** Read at once; most footers are shorter. */
const FIRST_READ = 4_096

export interface Footer {
  /** Without its sections. */
  readonly info: PartInfo
  readonly origin: PartOrigin
  readonly sections: Sections
}

/** @param info  its `bytes` are left out: they follow from where the footer stands */
export function encodeFooter(
  info: Omit<PartInfo, 'bytes'>,
  { replaces }: PartOrigin,
  sections: Sections,
  at: number,
): Uint8Array {
  const { firstTime, lastTime } = info
  const text = new TextEncoder().encode(
    JSON.stringify({
      ...info,
      // JSON has no infinite numbers, which stand where there are no points.
      firstTime: info.points === 0 ? null : firstTime,
      lastTime: info.points === 0 ? null : lastTime,
      replaces,
      sections,
    }),
  )
  const footer = new Uint8Array(text.length + TAIL_BYTES)
  footer.set(text)
  const view = new DataView(footer.buffer)
  view.setFloat64(text.length, at, true)
  view.setUint32(text.length + 8, text.length, true)
  view.setUint32(text.length + 12, crc32(footer.subarray(0, text.length + 12)), true)
  footer.set(MAGIC, text.length + 16)
  return footer
}

/** What the end of a file says. Throws Damage, and the system's errors. */
export function readFooter(file: ReadHandle): Footer {
  const size = file.size()
  if (size < MAGIC.length + TAIL_BYTES) throw new Damage('the file is too short')
  let end = readAt(file, Math.max(0, size - FIRST_READ), Math.min(size, FIRST_READ))
  const tail = viewOf(end, end.length - TAIL_BYTES)
  const at = tail.getFloat64(0, true)
  const length = tail.getUint32(8, true)
  const isWhole = MAGIC.every((byte, i) => end[end.length - MAGIC.length + i] === byte)
  if (!isWhole || at + length + TAIL_BYTES !== size || !(at >= MAGIC.length)) {
    throw new Damage('the file has no valid footer')
  }
  if (length + TAIL_BYTES > end.length) end = readAt(file, at, length + TAIL_BYTES)
  const footer = end.subarray(end.length - TAIL_BYTES - length)
  if (crc32(footer.subarray(0, length + 12)) !== viewOf(footer, length).getUint32(12, true)) {
    throw new Damage('the checksum of the footer is wrong')
  }
  const head = readAt(file, 0, MAGIC.length)
  if (!MAGIC.every((byte, i) => head[i] === byte)) throw new Damage('the file does not begin as a part does')
  return parseFooter(new TextDecoder().decode(footer.subarray(0, length)), size, at)
}

function viewOf(bytes: Uint8Array, at: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + at)
}

function readAt(file: ReadHandle, at: number, bytes: number): Uint8Array {
  const target = new Uint8Array(bytes)
  if (file.readNow(target, at) !== bytes) throw new Damage('the file is too short')
  return target
}

const COUNTS = ['firstSequence', 'lastSequence', 'points', 'tags', 'tombstones'] as const
const SECTIONS = ['table', 'tombstones', 'smallTags', 'largeTags'] as const

function parseFooter(text: string, bytes: number, end: number): Footer {
  const stored = (parseJson(text) ?? {}) as Record<string, unknown>
  const isValid =
    typeof stored.name === 'string' &&
    COUNTS.every((key) => isCount(stored[key])) &&
    Array.isArray(stored.replaces) &&
    stored.replaces.every((name) => typeof name === 'string') &&
    (stored.points === 0 || (Number.isFinite(stored.firstTime) && Number.isFinite(stored.lastTime))) &&
    areSections(stored.sections, end)
  if (!isValid) throw new Damage('the footer contradicts itself')
  const { name, firstSequence, lastSequence, points, tags, tombstones, replaces, sections } =
    stored as unknown as PartInfo & PartOrigin & { readonly sections: Sections }
  const info: PartInfo = {
    name,
    bytes,
    firstSequence,
    lastSequence,
    firstTime: points === 0 ? Number.POSITIVE_INFINITY : (stored.firstTime as number),
    lastTime: points === 0 ? Number.NEGATIVE_INFINITY : (stored.lastTime as number),
    points,
    tags,
    tombstones,
  }
  return { info, origin: { firstSequence, lastSequence, replaces }, sections }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Damage('the footer contradicts itself')
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether a value says where sections are of a file whose sections end there at the latest. */
export function areSections(value: unknown, end: number): boolean {
  const sections = (value ?? {}) as Readonly<Record<string, unknown>>
  return SECTIONS.every((key) => isSection(sections[key], end))
}

function isSection(value: unknown, end: number): boolean {
  const { at, bytes } = (value ?? {}) as { readonly at?: unknown; readonly bytes?: unknown }
  return (
    isCount(at) && isCount(bytes) && (at as number) % 8 === 0 && (at as number) + (bytes as number) <= end
  )
}
