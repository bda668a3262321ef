/**
 * Every name and number that stands on disk, in one place; docs/formats/embedded-v2.md describes what they hold.
 * Changing anything here is a new format.
 */

/** Format of data directories and historians that this version writes; it reads all up to it. */
export const FORMAT_VERSION = 2

/** Folder of the environment with keys and aliases. */
export const SYSTEM_FOLDER = 'system'
/** Folder with a folder for each embedded historian. */
export const HISTORIANS_FOLDER = 'historians'
/** In a backup: folder with a folder for each embedded historian whose data stand outside of the data directory. */
export const ELSEWHERE_FOLDER = 'elsewhere'
/** In a folder that takes a backup: what is copied stands in it until all of it is. */
export const UNFINISHED_FOLDER = 'unfinished-backup'
/** Touched while an owner lives, beside the lmdb files of what it owns. */
export const LEASE_FILE = 'owner.lease'
/** lmdb's own. */
export const DATA_FILE = 'data.mdb'
export const LOCK_FILE = 'lock.mdb'

/** Sub-databases. */
export const DATABASES = {
  meta: 'meta',
  keys: 'keys',
  aliases: 'aliases',
  tags: 'tags',
  names: 'names',
  search: 'search',
  points: 'points',
  summaries: 'summaries',
  journal: 'journal',
} as const

/** Entries of `meta`, as JSON. */
export const META = {
  /** FORMAT_VERSION of the writer. */
  format: 'format',
  /** Name of the historian. */
  historian: 'historian',
  /** Unicode version of the case folding in `search`. */
  unicode: 'unicode',
  /** Id of the next tag. */
  nextTag: 'next-tag',
  /** Grows with every change of tags, so that another process sees that what it remembers is old. */
  generation: 'generation',
  /** Owner of the environment: see owner.ts. */
  owner: 'owner',
  /** SUMMARIES_VERSION when every block has its place in `summaries`; true where each has an entry of its own, as in format 1. */
  summaries: 'summaries',
  /** Set with the first key and never taken back. */
  keysMade: 'keys-made',
} as const

/** How summaries are kept: in pages (summary-page.ts). */
export const SUMMARIES_VERSION = 2

/** First byte of a key of `search`. */
export const SEARCH_KINDS = {
  /** Beginning of the name. */
  name: 1,
  /** Beginning of the case-folded name. */
  foldedName: 2,
  /** Beginning of the case-folded description. */
  foldedDescription: 3,
} as const

/** Bytes of text in a key of `search`. */
export const SEARCH_PREFIX_BYTES = 120

/** The folder of a historian below HISTORIANS_FOLDER: its name, with dots at either end escaped, which mean something to file systems. */
export function historianFolder(name: string): string {
  return name.replace(/^\.+|\.+$/g, (dots) => '%2E'.repeat(dots.length))
}
