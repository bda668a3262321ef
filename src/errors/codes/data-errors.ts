import type { ErrorEntry } from '../error-entry.ts'

/** Of tags, points, metadata and corrections; most sentences are the interface's. */
export const DATA_ERRORS = {
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
  POINT_TOO_OLD: {
    kind: 'invalid',
    text: 'Point of tag {historian}/{tag} at {time} is too old: the oldest time that is taken is {oldest}',
    fix: 'Leave the points out that `issues` names: retention would remove them. All others of the request were taken.',
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
    fix: 'Use a form of the timestamp reference; `suggestions` of the issue has the two nearest.',
  },
  INVALID_TIME: {
    kind: 'invalid',
    text: 'Cannot parse type {input} as time input for {field}: a time such as {accepted} is expected',
    fix: 'Use a form of the timestamp reference; `suggestions` of the issue has the two nearest.',
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
  INVALID_STATE: {
    kind: 'invalid',
    text: 'Invalid value {input} for tag {historian}/{tag}: a finite number or one of {names} is expected',
    fix: 'Send a JSON number, or the name of one of the states of the tag.',
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
  RENAME_ALIASES: {
    kind: 'invalid',
    text: 'Tag {address} cannot be renamed to {to}: it is used by {users}',
    fix: 'Send "aliases": "follow" to let them refer to the new name, or "break" to leave them as they are.',
  },
  RENAME_ALIAS_INVALID: {
    kind: 'invalid',
    text: 'The tags cannot be renamed, as {alias} cannot follow: {reason}',
    fix: 'Change or delete the alias first, choose a shorter name, or send "aliases": "break".',
  },
  RENAME_TWICE: {
    kind: 'invalid',
    text: 'Tag {address} cannot be renamed to {to}: another tag of the request is',
    fix: 'Give each tag a new name of its own.',
  },
  INVALID_METADATA: {
    kind: 'invalid',
    text: 'Invalid {field} {input} for tag {address}: {expected} is expected',
    fix: 'description and units are texts, stepped is true or false, maxGap is a duration, states are names by number.',
  },
  TOO_MANY_ISSUES: {
    kind: 'invalid',
    text: '{count} more issues are not listed',
    fix: 'Correct the listed ones and send the request again.',
  },
} as const satisfies Record<string, ErrorEntry>
