/**
 * Makes dist/ for the package: the sources with their types stripped, since Node strips none under node_modules. Lines and
 * columns stay where they are in the sources, so a stack of an installed package points into them.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src')
const target = join(root, 'dist')

/** Relative specifiers of imports, exports, import() and new URL(..., import.meta.url). */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g

process.removeAllListeners('warning')
process.on('warning', (warning) => {
  // That the function may still change is known; the package is built by one pinned Node.
  if (warning.name !== 'ExperimentalWarning') console.error(warning.message)
})

rmSync(target, { recursive: true, force: true })
let count = 0
for (const file of globSync('**/*', { cwd: sources, withFileTypes: true })) {
  if (!file.isFile() || file.name.endsWith('.test.ts')) continue
  const path = join(file.parentPath, file.name)
  const written = join(target, path.slice(sources.length + 1))
  mkdirSync(dirname(written), { recursive: true })
  if (path.endsWith('.ts')) {
    const stripped = stripTypeScriptTypes(readFileSync(path, 'utf8'), { mode: 'strip' })
    writeFileSync(written.replace(/\.ts$/, '.js'), stripped.replace(SPECIFIER, '$1$2$3.js$2'))
  } else {
    cpSync(path, written)
  }
  count++
}
console.error(`dist/: ${count} files`)
