import { crc32 } from 'node:zlib'

/** What a report of a repair says. */
export interface LostReport {
  /** What is lost, or may be, one sentence each. */
  readonly lost: readonly string[]
  /** What nobody can know without the manifest that is lost, one sentence each. */
  readonly unknown: readonly string[]
  /** Whether the log was written anew. */
  readonly isLogAnew: boolean
}

const LOST = 'lost: '
const UNKNOWN = 'not known: '
const LOG_ANEW = 'The log was written anew: earlier backups and its archive end before that. Make a backup.'
const END = /^end of the report, CRC-32 ([0-9a-f]{8})\n$/

/**
 * A report as a text for people. Its last line has a checksum of all before it, in UTF-8: a text that was cut off, or
 * changed, is none.
 * @param at  when it is made, in microseconds since 1970
 */
export function formatLostReport(
  historian: string,
  at: number,
  { lost, unknown, isLogAnew }: LostReport,
): string {
  const text = [
    `What a repair could not keep of the historian ${escaped(historian)}, ${new Date(at / 1000).toISOString()}.`,
    'No repair reads it any more when its name ends in .txt: it may be deleted then.',
    '',
    ...lost.map((what) => LOST + escaped(what)),
    ...unknown.map((what) => UNKNOWN + escaped(what)),
    ...(isLogAnew ? ['', LOG_ANEW] : []),
    '',
    '',
  ].join('\n')
  return `${text}end of the report, CRC-32 ${checksumOf(text)}\n`
}

/** What a report says; `null` for a text that is none, or is not whole. */
export function parseLostReport(text: string): LostReport | null {
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const body = text.slice(0, end)
  if (END.exec(text.slice(end))?.[1] !== checksumOf(body)) return null
  const lines = body.split('\n')
  const after = (beginning: string) =>
    lines.flatMap((line) => (line.startsWith(beginning) ? [unescaped(line.slice(beginning.length))] : []))
  return { lost: after(LOST), unknown: after(UNKNOWN), isLogAnew: lines.includes(LOG_ANEW) }
}

const checksumOf = (text: string) => crc32(text).toString(16).padStart(8, '0')

/** Names of tags may have line breaks, halves of surrogate pairs, and what turns the direction of a text. */
const escaped = (text: string) =>
  text.replace(
    /[\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )

const unescaped = (text: string) =>
  text.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
