import type { ErrorEntry } from '../error-entry.ts'

/** Of limits and the deadline. Each sentence says what would be allowed; docs/limits.md lists them. */
export const LIMIT_ERRORS = {
  LIMIT_JSON: {
    kind: 'limit',
    text: 'The body cannot be read: it has {what}; send several smaller requests',
    fix: 'Send several smaller requests.',
  },
  LIMIT_LABELS: {
    kind: 'limit',
    text: 'The labels limit is {limit}, and this call has more: send several calls',
    fix: 'Send several calls, or raise limits.labels.',
  },
  LIMIT_TAG_NAMES: {
    kind: 'limit',
    text: 'The tag names limit is {limit}, and this call names more: send several calls',
    fix: 'Send several calls, or raise limits.tagNames.',
  },
  LIMIT_TAGS: {
    kind: 'limit',
    text: 'The tags limit of one request is {limit}, and this request has more: nothing was changed, send several requests',
    fix: 'Send several requests, or raise limits.tags.',
  },
  LIMIT_RANGES: {
    kind: 'limit',
    text: 'The ranges limit of one request is {limit}, and this request has {actual}: nothing was changed, send several requests',
    fix: 'Send several requests, or raise limits.ranges.',
  },
  LIMIT_REQUESTED_POINTS: {
    kind: 'limit',
    text: 'The requested points limit is {limit}, and this call requests {actual} points',
    fix: 'Request fewer points, or raise limits.requestedPoints.',
  },
  LIMIT_HISTORIAN_LOAD: {
    kind: 'limit',
    text: 'The historian load limit is {limit} points, and this call needs {actual} points',
    fix: 'Request shorter ranges, or raise limits.historianLoad. explain shows which label needs what.',
  },
  LIMIT_EFFECTIVE_TAGS: {
    kind: 'limit',
    text: 'The effective tags limit is {limit}, and this call needs {actual} tags',
    fix: 'Split the call, or raise limits.effectiveTags.',
  },
  LIMIT_GENERATED_POINTS: {
    kind: 'limit',
    text: 'At most {limit} points are generated for one label, and with {tag} this one needs {actual}: ask for 1/{times} of its range',
    fix: 'Request shorter ranges, or give the signal a longer period.',
  },
  LIMIT_PASSED_POINTS: {
    kind: 'limit',
    text: 'A calculation in this label has more than {limit} raw points without a value in a row, {side} {at}, where one with a value is needed: ask for a time at which all of its inputs have values',
    fix: 'Request times at which all inputs of the calculation have values.',
  },
  LIMIT_FETCHED_POINTS: {
    kind: 'limit',
    text: 'This call fetched more than {limit} points: ask for shorter ranges or fewer labels',
    fix: 'Request shorter ranges, or raise limits.historianLoad.',
  },
  LIMIT_EVALUATED_VALUES: {
    kind: 'limit',
    text: 'The calculations of this call evaluate more than {limit} values: ask for shorter ranges or fewer labels',
    fix: 'Request fewer points or a shorter range, or nest fewer functions.',
  },
  LIMIT_CONTEXTS: {
    kind: 'limit',
    text: 'The calculation reads its inputs over more than {limit} different ranges: use fewer time shifts inside each other',
    fix: 'Use fewer time shifts inside each other.',
  },
  LIMIT_AGGREGATE_WINDOWS: {
    kind: 'limit',
    text: 'The aggregate windows limit is {limit}, and this call asks for {actual} windows',
    fix: 'Request fewer or longer windows, or raise limits.aggregateWindows.',
  },
  DEADLINE_EXCEEDED: {
    kind: 'deadline',
    text: 'Not everything could be retrieved within {seconds} seconds',
    fix: 'Request less in one call, or raise limits.deadlineSeconds.',
  },
  WRITE_DEADLINE_EXCEEDED: {
    kind: 'deadline',
    text: 'The request was not finished within {seconds} seconds',
    fix: 'Send less in one request, or raise limits.deadlineSeconds.',
  },
  CANCELLED: { kind: 'cancelled', text: 'The call was cancelled', fix: 'Send it again.' },
} as const satisfies Record<string, ErrorEntry>
