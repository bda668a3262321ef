/**
 * Every error that Tidemark reports, in one table. A code is stable: clients branch on it, so it is never reused for
 * something else. `text` is a template over the values given when it is thrown; where docs quote a sentence it is
 * contract, letter by letter. `kind` alone decides the HTTP status (src/http/error-status.ts).
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method'
  | 'media-type'
  | 'too-large'
  | 'limit'
  | 'deadline'
  | 'cancelled'
  | 'overloaded'
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

export const ERRORS = {
  // Tags, historians, points: the sentences of the interface.
  HISTORIAN_NOT_FOUND: {
    kind: 'not-found',
    text: 'Historian {historian} for tag {tag} does not exist',
    fix: 'List the historians that this key may see with GET /historian/list.',
  },
  HISTORIAN_UNKNOWN: {
    kind: 'not-found',
    text: 'Historian {historian} does not exist',
    fix: 'List the historians that this key may see with GET /historian/list.',
  },
  HISTORIAN_NOT_WRITABLE: {
    kind: 'forbidden',
    text: 'Historian {historian} for tag {tag} is not writable',
    fix: 'Write to a historian of GET /historian/listwritable.',
  },
  TAG_NOT_FOUND: {
    kind: 'not-found',
    text: 'Tag {historian}/{tag} does not exist',
    fix: 'Search the historian for the name, or write with createTags.',
  },
  SIGNAL_NAME: {
    kind: 'not-found',
    text: 'Tag siggen/{tag} does not exist: {reason}, as in sin10-30@600-3600000 for <function><amplitude>[+|-<y offset>]@<period in s>[+|-<x offset in ms>]',
    fix: 'Name the signal as docs/virtual-historians.md describes it.',
  },
  TAG_EXISTS: {
    kind: 'invalid',
    text: 'Tag {address} already exists',
    fix: 'Set updateIfExists to overwrite its metadata, or choose another name.',
  },
  INVALID_TAG_ADDRESS: {
    kind: 'invalid',
    text: 'Invalid tag address {address}: <historian_name>/<tag_name> is expected',
    fix: 'Give the historian, a slash and the tag name.',
  },
  INVALID_TIMESTAMP: {
    kind: 'invalid',
    text: 'Error: Cannot parse type {input} as time input for tag {historian}/{tag}',
    fix: 'Use a form of the timestamp reference.',
  },
  INVALID_TIME: {
    kind: 'invalid',
    text: 'Cannot parse type {input} as time input for {field}',
    fix: 'Use a form of the timestamp reference.',
  },
  INVALID_TIME_ZONE: {
    kind: 'invalid',
    text: 'Invalid timeZone {input}: an IANA zone id such as Europe/Oslo is expected',
    fix: 'Use a zone id of the IANA time zone database.',
  },
  INVALID_VALUE: {
    kind: 'invalid',
    text: 'Invalid value {input} for tag {historian}/{tag}: a finite number is expected',
    fix: 'Send a JSON number.',
  },
  INVALID_STATUS: {
    kind: 'invalid',
    text: 'Invalid status {input} for tag {historian}/{tag}: OK or BAD is expected',
    fix: 'Send OK, BAD, or leave the status out.',
  },
  INVALID_POINT: {
    kind: 'invalid',
    text: 'Invalid point {input} for tag {historian}/{tag}: an object with timestamp and value is expected',
    fix: 'Send {"timestamp": ..., "value": ...}.',
  },
  INVALID_POINTS: {
    kind: 'invalid',
    text: 'Invalid points {input} for tag {historian}/{tag}: {expected} is expected',
    fix: 'Send an array of points, or an object of equally long columns.',
  },
  INVALID_UNIT: {
    kind: 'invalid',
    text: 'Invalid unit {input} for tag {historian}/{tag}: s, ms or us is expected',
    fix: 'Name the unit of the timestamps that are numbers, or leave unit out.',
  },
  INVALID_RANGES: {
    kind: 'invalid',
    text: 'Invalid ranges {input} for tag {historian}/{tag}: an array of objects with from and to is expected',
    fix: 'Send [{"from": ..., "to": ...}].',
  },
  INVALID_RANGE: {
    kind: 'invalid',
    text: 'Invalid range {input} for tag {historian}/{tag}: an object with from and to, from before to, is expected',
    fix: 'Send {"from": ..., "to": ...}; from is included, to is not.',
  },
  RENAME_OTHER_HISTORIAN: {
    kind: 'invalid',
    text: 'Tag {address} cannot be renamed to {to}: an address in the same historian is expected',
    fix: 'Read the points and write them to the other historian.',
  },
  RENAME_TWICE: {
    kind: 'invalid',
    text: 'Tag {address} cannot be renamed to {to}: another tag of the request is',
    fix: 'Give each tag a new name of its own.',
  },
  INVALID_METADATA: {
    kind: 'invalid',
    text: 'Invalid {field} {input} for tag {address}: {expected} is expected',
    fix: 'description and units are texts, stepped is true or false.',
  },
  TOO_MANY_ISSUES: {
    kind: 'invalid',
    text: '{count} more issues are not listed',
    fix: 'Mend the listed ones and send the request again.',
  },

  // Requests.
  INVALID_REQUEST: { kind: 'invalid', text: '{message}', fix: 'Send what the message expects.' },
  INVALID_JSON: {
    kind: 'invalid',
    text: 'The body is not valid JSON: {reason}',
    fix: 'Send UTF-8 encoded JSON.',
  },
  UNKNOWN_REQUEST_TYPE: {
    kind: 'invalid',
    text: 'Unknown request type {input}: one of {expected} is expected',
    fix: 'Use a request type of the reference.',
  },
  INVALID_DETAIL: {
    kind: 'invalid',
    text: 'Invalid {field} {input} in the details of {type}: {expected} is expected',
    fix: 'See the details of the request type in the reference.',
  },
  MISSING_DETAIL: {
    kind: 'invalid',
    text: 'The details of {type} need {field}',
    fix: 'See the details of the request type in the reference.',
  },
  INVALID_CURSOR: {
    kind: 'invalid',
    text: 'Invalid cursor',
    fix: 'Send the `next` of the answer before, for the same tag.',
  },
  ALIAS_CYCLE: {
    kind: 'invalid',
    text: 'Alias {name} would lead to itself: {path}',
    fix: 'Let one alias of the path lead elsewhere.',
  },
  ALIAS_LIMIT: {
    kind: 'limit',
    text: 'Alias {name} leads too far: {reason}',
    fix: 'Let the alias lead to less, or by a shorter way.',
  },
  ALIAS_TARGET: {
    kind: 'invalid',
    text: 'Alias {name} cannot be stored: {reason}',
    fix: 'Mend what the reason names in the tag that the alias leads to.',
  },
  ALIAS_NAME: {
    kind: 'invalid',
    text: 'Invalid alias name {input}: 1 to 512 characters without control characters are expected',
    fix: 'Give the name after /historian/aliases/, percent-encoded.',
  },
  CALCULATION_SYNTAX: {
    kind: 'invalid',
    text: 'Cannot parse calculation: {reason} at column {column} of {input}',
    fix: 'Mend the expression at that column.',
  },

  // Access.
  KEY_MISSING: {
    kind: 'unauthorized',
    text: 'An API key is needed: send it as the header X-Api-Key or the query parameter apikey',
    fix: 'Make a key with tidemark keys create.',
  },
  KEY_INVALID: {
    kind: 'unauthorized',
    text: 'The API key is not known, has expired or was revoked',
    fix: 'Make a key with tidemark keys create.',
  },
  KEY_READ_ONLY: {
    kind: 'forbidden',
    text: 'This API key may only read: {operation} needs a key of scope write',
    fix: 'Use a key of scope write.',
  },
  ALIAS_NOT_CHANGEABLE: {
    kind: 'forbidden',
    text: 'Alias {name} cannot be changed with this API key',
    fix: 'Choose another name, or use a key that sees what the alias leads to.',
  },
  PATH_NOT_FOUND: { kind: 'not-found', text: 'There is nothing at {path}', fix: 'See /openapi.json.' },
  METHOD_NOT_ALLOWED: {
    kind: 'method',
    text: '{method} is not allowed at {path}: {allowed} is expected',
    fix: 'Use the method that the Allow header names.',
  },
  MEDIA_TYPE: {
    kind: 'media-type',
    text: 'Content-Type {input} is not understood: application/json is expected',
    fix: 'Send the header Content-Type: application/json.',
  },
  CONTENT_ENCODING: {
    kind: 'media-type',
    text: 'Content-Encoding {input} is not understood: gzip, deflate or identity is expected',
    fix: 'Send the body plain or gzip-encoded.',
  },
  BODY_TOO_LARGE: {
    kind: 'too-large',
    text: 'The body is larger than {limit} bytes',
    fix: 'Send smaller requests, or raise server.bodyLimitBytes.',
  },
  OVERLOADED: {
    kind: 'overloaded',
    text: 'Too much is in work already: {reason}; try again in {seconds} s',
    fix: 'Wait as Retry-After says, or raise server.maxConcurrentCalls or server.maxBytesInWork.',
  },

  // Limits and deadline.
  LIMIT_REQUESTED_POINTS: {
    kind: 'limit',
    text: 'The requested points limit is {limit}, and this call requests {actual} points',
    fix: 'Ask for fewer points, or raise limits.requestedPoints.',
  },
  LIMIT_HISTORIAN_LOAD: {
    kind: 'limit',
    text: 'The historian load limit is {limit} points, and this call needs {actual} points{hint}',
    fix: 'Ask for shorter ranges, or raise limits.historianLoad. explain shows which label needs what.',
  },
  LIMIT_EFFECTIVE_TAGS: {
    kind: 'limit',
    text: 'The effective tags limit is {limit}, and this call needs {actual} tags',
    fix: 'Split the call, or raise limits.effectiveTags.',
  },
  LIMIT_GENERATED_POINTS: {
    kind: 'limit',
    text: 'At most {limit} points are generated for one call, and with {tag} this call needs {actual}',
    fix: 'Ask for shorter ranges, or give the signal a longer period.',
  },
  LIMIT_FAR_WINDOW: {
    kind: 'limit',
    text: 'The window {window} at the last point before a longer gap holds more than {limit} points',
    fix: 'Ask for a range that begins within the window after a point, or for a shorter window.',
  },
  LIMIT_AGGREGATE_WINDOWS: {
    kind: 'limit',
    text: 'The aggregate windows limit is {limit}, and this call asks for {actual} windows',
    fix: 'Ask for fewer or longer windows, or raise limits.aggregateWindows.',
  },
  DEADLINE_EXCEEDED: {
    kind: 'deadline',
    text: 'Not everything could be retrieved within {seconds} seconds',
    fix: 'Ask for less in one call, or raise limits.deadlineSeconds.',
  },
  WRITE_DEADLINE_EXCEEDED: {
    kind: 'deadline',
    text: 'The request was not finished within {seconds} seconds',
    fix: 'Send less in one request, or raise limits.deadlineSeconds.',
  },
  CANCELLED: { kind: 'cancelled', text: 'The call was cancelled', fix: 'Send it again.' },

  // Historians.
  HISTORIAN_UNAVAILABLE: {
    kind: 'unavailable',
    text: 'Historian {historian} could not be reached: {reason}',
    fix: 'See GET /health/ready with a key, and the service log.',
  },
  HISTORIAN_LIMIT: {
    kind: 'limit',
    text: 'Historian {historian} has a limit of its own: {reason}',
    fix: 'Ask for less in one call, or raise the limit in the service behind the historian.',
  },
  HISTORIAN_REFUSED: {
    kind: 'invalid',
    text: 'Historian {historian} refused this: {reason}',
    fix: 'Mend what the reason names; it is what the service behind the historian said.',
  },
  HOP_LOOP: {
    kind: 'invalid',
    text: 'This call came back to the instance {instance}, through which it had come already: a historian leads to itself',
    fix: 'Look at the historians of type tidemark: one of them leads back to where the call began.',
  },
  HOP_LIMIT: {
    kind: 'invalid',
    text: 'This call came through more than {limit} instances',
    fix: 'Let the historian lead to the instance that has the points by a shorter way.',
  },
  WRITE_FAILED: {
    kind: 'unavailable',
    text: 'Historian {historian} did not take its points: {reason}',
    fix: 'Write the same request again; that is always safe.',
  },
  WRITE_DONE: {
    kind: 'unavailable',
    text: 'Historian {historian} took its points',
    fix: 'Nothing: another historian of the request failed.',
  },
  WRITE_PARTIAL: {
    kind: 'unavailable',
    text: 'Historian {historian} took only a part of its points: {reason}',
    fix: 'Mend what the reason names and write the same request again; that is always safe.',
  },
  WRITE_OUTCOME_UNKNOWN: {
    kind: 'unavailable',
    text: 'It is not known whether historian {historian} took its points: {reason}',
    fix: 'Write the same request again; that is always safe.',
  },
  CHANGE_FAILED: {
    kind: 'unavailable',
    text: 'Historian {historian} did not change anything: {reason}',
    fix: 'Send the request again without what was done already.',
  },
  CHANGE_DONE: {
    kind: 'unavailable',
    text: 'Historian {historian} made its changes',
    fix: 'Nothing: another historian of the request failed.',
  },
  CHANGE_OUTCOME_UNKNOWN: {
    kind: 'unavailable',
    text: 'It is not known whether historian {historian} made its changes: {reason}',
    fix: 'Look with dryRun, then send what is left again.',
  },
  KEYS_UNAVAILABLE: {
    kind: 'unavailable',
    text: 'The store of API keys could not be reached: {reason}',
    fix: 'Try again shortly, and see the service log.',
  },
  ALIASES_UNAVAILABLE: {
    kind: 'unavailable',
    text: 'The aliases cannot be read or changed: {reason}',
    fix: 'See the service log.',
  },
  SHUTTING_DOWN: { kind: 'overloaded', text: 'The service is shutting down', fix: 'Try again shortly.' },
  STORAGE_CORRUPT: {
    kind: 'corrupt',
    text: 'Stored data of historian {historian} is damaged: {reason}',
    fix: 'Restore a backup; intact data stays readable.',
  },
  NOT_SUPPORTED: {
    kind: 'invalid',
    text: 'Historian {historian} cannot {operation}',
    fix: 'See the capabilities of the kind of historian in the reference.',
  },
  BUG: {
    kind: 'bug',
    text: 'Something that should hold does not: {what}',
    fix: 'Report it with the request id.',
  },

  // Command line and configuration.
  CONFIG_INVALID: { kind: 'invalid', text: '{message}', fix: 'Mend the configuration at the path named.' },
  DATA_DIR_IN_USE: {
    kind: 'unavailable',
    text: 'The data directory {directory} is in use by a running tidemark (process {pid}){hint}',
    fix: 'Stop that service, or go through it with --url.',
  },
  DATA_DIR_UNUSABLE: {
    kind: 'unavailable',
    text: 'The data directory {directory} cannot be used: {reason}',
    fix: 'Mend what the reason names, or choose another directory with --data-dir.',
  },
  KEY_EXISTS: {
    kind: 'invalid',
    text: 'A key with the name {name} already exists',
    fix: 'Choose another name, or revoke that key first.',
  },
  DATA_DIR_NEWER: {
    kind: 'corrupt',
    text: 'The data directory {directory} was written by a newer tidemark (format {found}, this one reads up to {known})',
    fix: 'Use the newer version.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS
