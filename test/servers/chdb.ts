import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClickhouseEngine } from './clickhouse.ts'
import { findPython } from './python.ts'
import { freePort, serverFolder, startServer } from './required.ts'

/*
 * Today's ClickHouse, which no Debian package brings: its engine as chdb-core of PyPI has it, behind an HTTP interface
 * of ours.
 */

const FRONT = fileURLToPath(new URL('./chdb-front.py', import.meta.url))

export const chdbServer = findPython('chdb', 'chdb')

/** The engine with data of its own in a folder that is gone after the tests. */
export async function startChdb(): Promise<ClickhouseEngine> {
  if (chdbServer.path === null) throw new Error(chdbServer.skip)
  const folder = serverFolder('chdb')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const process = await startServer({
    command: chdbServer.path,
    args: [FRONT, String(port), join(folder, 'data')],
    cwd: folder,
    probe: async () => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok,
  })
  return {
    url,
    async sql(text) {
      const answer = await fetch(url, { method: 'POST', body: text })
      const body = await answer.text()
      if (!answer.ok) throw new Error(body)
      return body.trim()
    },
    kill: () => process.kill(),
  }
}
