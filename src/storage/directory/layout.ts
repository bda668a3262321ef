/** Names in a data directory. Changing anything here is a new format. */

/** Folder with the database of keys and aliases. */
export const SYSTEM_FOLDER = 'system'
/** Folder with a folder for each embedded historian. */
export const HISTORIANS_FOLDER = 'historians'
/** In a backup: folder with a folder for each embedded historian whose data stand outside of the data directory. */
export const ELSEWHERE_FOLDER = 'elsewhere'
/** In a folder that takes a backup: what is copied stands in it until all of it is. */
export const UNFINISHED_FOLDER = 'unfinished-backup'
