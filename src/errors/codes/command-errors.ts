import type { ErrorEntry } from '../error-entry.ts'

/** Of the command line and the configuration. */
export const COMMAND_ERRORS = {
  CONFIG_INVALID: { kind: 'invalid', text: '{message}', fix: 'Correct the configuration at the path named.' },
  DATA_DIR_IN_USE: {
    kind: 'unavailable',
    text: 'The data directory {directory} is in use by a running tidemark (process {pid}){hint}',
    fix: 'Stop that service, or go through it with --url.',
  },
  DATA_DIR_UNUSABLE: {
    kind: 'unavailable',
    text: 'The data directory {directory} cannot be used: {reason}',
    fix: 'Correct what the reason names, or choose another directory with --data-dir.',
  },
  RESTORE_IMPOSSIBLE: {
    kind: 'invalid',
    text: 'Historian {historian} cannot be restored: {reason}',
    fix: 'Choose another moment, an earlier or later backup, or the archive that the reason misses.',
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
