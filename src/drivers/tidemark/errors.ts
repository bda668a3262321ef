import { ERRORS, type ErrorKind } from '../../errors/codes.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'

/** An issue as another instance reports it; nothing about it is believed. */
export interface UpstreamIssue {
  readonly code: string
  readonly message: string
  /** Address there. */
  readonly tag: string | null
  readonly label: string | null
}

/** Sentences of the other instance are cut here, so that a chain of instances does not make an endless one. */
const LONGEST_SENTENCE = 500

const NOT_FOUND_THERE =
  'there is no such historian in the instance that it refers to, or the key for it may not see it'

/** What the caller cannot fix: the configuration refers to itself in a circle, or to something else. */
const CONFIGURED_WRONG: ReadonlySet<string> = new Set([
  'HOP_LIMIT',
  'HOP_LOOP',
  'METHOD_NOT_ALLOWED',
  'PATH_NOT_FOUND',
])

/** What an issue of the other instance means here. @param historian as it is called here */
export function errorOfIssue(historian: string, { code, message }: UpstreamIssue): TidemarkError {
  const reason = shortened(message)
  switch (code) {
    case 'HISTORIAN_NOT_FOUND':
    case 'HISTORIAN_UNKNOWN':
      return unavailable(historian, NOT_FOUND_THERE)
    case 'HISTORIAN_NOT_WRITABLE':
      return cannotWrite(historian, 'it is not writable in the instance that it refers to')
    case 'KEY_READ_ONLY':
      return cannotWrite(historian, 'the key for it may only read')
    case 'STORAGE_CORRUPT':
      return new TidemarkError('STORAGE_CORRUPT', { historian, reason })
    case 'BODY_TOO_LARGE':
      return new TidemarkError('HISTORIAN_LIMIT', { historian, reason })
    default:
      break
  }
  switch (kindOf(code)) {
    case 'limit':
      // What it says to do about it, after a semicolon, is about the labels of this driver's own call.
      return new TidemarkError('HISTORIAN_LIMIT', { historian, reason: reason.split('; ')[0]! })
    case 'invalid':
    case 'not-found':
    case 'forbidden':
      if (CONFIGURED_WRONG.has(code)) return unavailable(historian, reason)
      return new TidemarkError('HISTORIAN_REFUSED', { historian, reason })
    default:
      return unavailable(historian, reason)
  }
}

/** A change where the other instance does not allow any. */
export function cannotWrite(historian: string, reason: string): TidemarkError {
  return new TidemarkError('NOT_SUPPORTED', { historian, operation: `be changed: ${reason}` })
}

/** Of a read that must be whole, where the other instance left something out. */
export function damagedThere(historian: string): TidemarkError {
  return new TidemarkError('STORAGE_CORRUPT', {
    historian,
    reason: 'points are damaged in the instance that it refers to',
  })
}

/** An answer that is not one of this interface's. */
export function notUnderstood(historian: string, what: string): TidemarkError {
  return unavailable(historian, `its answer is not understood: ${what}`)
}

function kindOf(code: string): ErrorKind | null {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].kind : null
}

export function shortened(sentence: string): string {
  return sentence.length > LONGEST_SENTENCE ? `${sentence.slice(0, LONGEST_SENTENCE)}...` : sentence
}
