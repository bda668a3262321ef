import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type FoundServer, findServer } from './required.ts'

/**
 * Python with the packages that tests need: `.ci/run` installs them into .venv; another one is named by
 * TIDEMARK_PYTHON.
 */
const PYTHON =
  process.env.TIDEMARK_PYTHON ?? fileURLToPath(new URL('../../.venv/bin/python3', import.meta.url))

export type FoundPython = FoundServer

/**
 * Looks for a Python that can import packages.
 * @param name     of what is needed, for the message
 * @param modules  that must be there to be imported
 * @throws when they are missing and TIDEMARK_SERVERS=required
 */
export function findPython(name: string, ...modules: readonly string[]): FoundPython {
  const found = findServer(name, PYTHON)
  if (found.path === null) return found
  const look = `import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ${JSON.stringify(modules)}))`
  const { status } = spawnSync(found.path, ['-c', look], { timeout: 300_000 })
  if (status === 0) return found
  const skip = `${name} is not installed (${found.path} has not all of ${modules.join(', ')})`
  if (process.env.TIDEMARK_SERVERS === 'required') throw new Error(`${skip}, and TIDEMARK_SERVERS=required`)
  return { path: null, skip }
}
