import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'

/** DATA_DIR_UNUSABLE for a folder. @param reason  in words that a user can act on */
export function unusable(directory: string, reason: string, cause?: unknown): TidemarkError {
  return new TidemarkError('DATA_DIR_UNUSABLE', { directory, reason }, { cause })
}

/** Why the file system refused, in words that a user can act on; without paths. */
export function reasonOf(error: unknown): string {
  return REASONS[systemCode(error)] ?? 'the log has the details'
}

const NO_PERMISSION = 'permission to write there is missing'
const NO_FOLDER = 'it is not a folder, or stands below a file'
const TOO_MANY_FILES = 'too many files are open'

const DISK_ERROR = 'the disk is full or reports an error'

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'the file system is read-only',
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file may not grow any further',
  ENOENT: 'it is missing and cannot be made',
  ENOTDIR: NO_FOLDER,
  EEXIST: NO_FOLDER,
  EIO: DISK_ERROR,
  EBADMSG: DISK_ERROR,
  EUCLEAN: DISK_ERROR,
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
  NO_ROOM_TO_MERGE: 'the disk has less free space than a merge takes',
  THREAD_ENDED: 'a thread of the service has ended, and the log has the details',
  // Those of an archive (src/storage/archive).
  NO_ARCHIVE: 'the folder of the archive is missing',
  OTHER_RECORDS: 'the archive has other records under the same numbers, of another copy of the historian',
}
