import { join } from 'node:path'

/** Where Node keeps sources without their types, compiled, for the processes of the tests: `npm ci` empties it. */
export const COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-for-tests')
