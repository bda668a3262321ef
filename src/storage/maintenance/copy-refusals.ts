import { sep } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { Damage } from '../damage.ts'
import { EngineErrors } from '../engine/engine-errors.ts'
import { reasonOf, unusable } from '../files/refusals.ts'

/** What callers get for an error that was met while a historian was read: for one of the system, that of its folder. */
export function readRefusal(error: unknown, historian: string, folder: string): unknown {
  if (error instanceof Damage) return new EngineErrors(historian).ofRead(error)
  if (error instanceof TidemarkError || systemCode(error) === '') return error
  return unusable(folder, reasonOf(error), error)
}

/** The same while it was copied: an error of the system is one of its folder where a file of it cannot be opened. */
export function copyRefusal(error: unknown, historian: string, folder: string, target: string): unknown {
  if (error instanceof TidemarkError || error instanceof Damage) return readRefusal(error, historian, folder)
  const { path, syscall } = error as { readonly path?: unknown; readonly syscall?: unknown }
  const isOfFolder = syscall === 'open' && typeof path === 'string' && path.startsWith(folder + sep)
  if (!isOfFolder) return unusable(target, reasonOf(error), error)
  const isDenied = ['EACCES', 'EPERM'].includes(systemCode(error))
  return unusable(folder, isDenied ? 'permission to read its files is missing' : reasonOf(error), error)
}
