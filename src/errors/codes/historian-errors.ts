import type { ErrorEntry } from '../error-entry.ts'

/** Of historians and stores, and what is known of a change that failed. */
export const HISTORIAN_ERRORS = {
  HISTORIAN_UNAVAILABLE: {
    kind: 'unavailable',
    text: 'Historian {historian} could not be reached: {reason}',
    fix: 'See GET /health/ready with a key, and the service log.',
  },
  HISTORIAN_LIMIT: {
    kind: 'limit',
    text: 'Historian {historian} has a limit of its own: {reason}',
    fix: 'Request less in one call, or raise the limit in the service behind the historian.',
  },
  HISTORIAN_REFUSED: {
    kind: 'invalid',
    text: 'Historian {historian} refused this: {reason}',
    fix: 'Correct what the reason names; it is what the service behind the historian said.',
  },
  HOP_LOOP: {
    kind: 'invalid',
    text: 'This call came back to the instance {instance}, through which it had come already: a historian refers to itself',
    fix: 'Look at the historians of type tidemark: one of them refers back to where the call began.',
  },
  HOP_LIMIT: {
    kind: 'invalid',
    text: 'This call came through more than {limit} instances',
    fix: 'Let the historian refer to the instance that has the points through fewer instances.',
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
    fix: 'Correct what the reason names and write the same request again; that is always safe.',
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
  CHANGE_PARTIAL: {
    kind: 'unavailable',
    text: 'Historian {historian} made only a part of its changes: {reason}',
    fix: 'Look with dryRun, then send what is left again.',
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
} as const satisfies Record<string, ErrorEntry>
