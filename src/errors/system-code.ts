import { constants } from 'node:os'

/**
 * The system's word for what a call failed with (`ENOSPC`); '' for an error that is none of the system's. Node has no
 * word for some of them, as for that of a quota, and gives their numbers: those without one in any list are `E117` ....
 */
export function systemCode(error: unknown): string {
  const { code, errno } = (error ?? {}) as { readonly code?: unknown; readonly errno?: unknown }
  if (typeof code !== 'string') return ''
  if (typeof errno !== 'number' || !UNNAMED.test(code)) return code
  return UNNAMED_ERRORS.get(Math.abs(errno)) ?? `E${Math.abs(errno)}`
}

/** What Node calls an error of the system that it has no word for, in calls that block and in others. */
const UNNAMED = /^UNKNOWN$|^Unknown system error /
const UNNAMED_ERRORS: ReadonlyMap<number, string> = new Map([
  ...Object.entries(constants.errno).map(([name, number]) => [number, name] as const),
  // "Structure needs cleaning": what ext4 and xfs say of their own damage.
  ...(process.platform === 'linux' ? ([[117, 'EUCLEAN']] as const) : []),
])
