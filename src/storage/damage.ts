import { systemCode } from '../errors/system-code.ts'
import { isDiskError } from './files/files.ts'

/**
 * What is stored cannot be read: a checksum is wrong, or parts that belong together contradict each other.
 * The driver turns it into STORAGE_CORRUPT with the historian's name; other data stays readable.
 */
export class Damage extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, cause === undefined ? {} : { cause })
    this.name = 'Damage'
  }
}

/** Records of the log by their numbers that were acknowledged and cannot be read, or are missing. */
export class LostRecords extends Damage {
  readonly first: number
  readonly last: number

  constructor(what: string, first: number, last: number, cause?: unknown) {
    super(what, cause)
    this.name = 'LostRecords'
    this.first = first
    this.last = last
  }
}

/** Whether something that is stored could not be read: it is damaged, or the disk fails. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Damage || isDiskError(error)
}

/** What could not be read, as Damage; any other error is thrown. */
export function damageOf(error: unknown): Damage {
  if (error instanceof Damage) return error
  if (!isUnreadable(error)) throw error
  return new Damage(`the disk reports an error (${systemCode(error)})`, error)
}

/** The same of a part whose file no owner can have dropped: one that is missing (ENOENT) is damage, too. */
export function damageOfPart(error: unknown): Damage {
  return systemCode(error) === 'ENOENT'
    ? new Damage('the file of the part is missing', error)
    : damageOf(error)
}

/**
 * Records of the log that were acknowledged cannot be read. Whoever finds it becomes no owner: the manifest of an owner
 * says what of the log counts, and would leave out for good what is missing now.
 */
export class LogDamage extends Damage {
  constructor({ message }: Damage) {
    super(message)
    this.name = 'LogDamage'
  }
}
