/** What an error is about; it alone decides the HTTP status (src/http/error-status.ts). */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method'
  | 'media-type'
  | 'too-large'
  | 'not-implemented'
  | 'limit'
  | 'deadline'
  | 'silent'
  | 'cancelled'
  | 'overloaded'
  | 'rate'
  | 'unavailable'
  | 'corrupt'
  | 'bug'

export interface ErrorEntry {
  readonly kind: ErrorKind
  /** Sentence for the client; `{name}` stands for a value. */
  readonly text: string
  /** What to do about it, for docs/errors.md. */
  readonly fix: string
}
