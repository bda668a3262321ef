import type { ErrorEntry } from '../error-entry.ts'

/** Of requests, their details, aliases and calculations. */
export const REQUEST_ERRORS = {
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
    text: 'Alias {name} would refer to itself: {path}',
    fix: 'Let one alias of the path refer to something else.',
  },
  ALIAS_CHANGED: {
    kind: 'invalid',
    text: 'Alias {name} was changed by someone else at the same time',
    fix: 'Look at the alias, and put it anew.',
  },
  ALIAS_LIMIT: {
    kind: 'limit',
    text: 'Alias {name} leads too far: {reason}',
    fix: 'Let the alias refer to fewer tags, or through fewer aliases.',
  },
  ALIAS_TARGET: {
    kind: 'invalid',
    text: 'Alias {name} cannot be stored: {reason}',
    fix: 'Correct what the reason names in the tag that the alias refers to.',
  },
  ALIAS_NAME: {
    kind: 'invalid',
    text: 'Invalid alias name {input}: 1 to 512 characters without control characters are expected',
    fix: 'Give the name after /historian/aliases/, percent-encoded.',
  },
  CALCULATION_SYNTAX: {
    kind: 'invalid',
    text: 'Cannot parse calculation: {reason} at column {column} of {input}',
    fix: 'Correct the expression at that column.',
  },
} as const satisfies Record<string, ErrorEntry>
