import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** An empty folder that is removed after the test; below another one than that for temporary files if wanted. */
export function temporaryFolder(t: TestContext, base = tmpdir()): string {
  const folder = mkdtempSync(join(base, 'tidemark-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
