import { enableCompileCache } from 'node:module'
import fc from 'fast-check'
import { COMPILE_CACHE } from './compile-cache.ts'

// Hundreds of files import the same sources, each in a process of its own.
enableCompileCache(COMPILE_CACHE)

/**
 * Loaded before each test file: property tests try the same cases in every run, so that a change is judged by what it
 * changes. PROPERTY_SEED=random looks for new cases, any number tries those of a run that failed.
 */
const wanted = process.env.PROPERTY_SEED ?? '20260115'
if (wanted !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) })

/** A rejection that nobody handles is a bug also where no test waits for it any more: the whole file fails. */
let unhandled = 0
process.on('unhandledRejection', (reason) => {
  unhandled++
  console.error('A rejection was not handled:', reason)
})
process.on('exit', () => {
  if (unhandled > 0) process.exitCode = 1
})
