/**
 * Makes dist/ for the package: the sources, and the explorer in dist/explorer, with their types stripped, since Node
 * strips none under node_modules. Lines and columns stay where they are in the sources, so a stack of an installed
 * package points into them.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist')

/** Relative specifiers of imports, exports, import() and new URL(..., import.meta.url). */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)(['"])(\.{1,2}\/[^'"\n]+)\.ts\2/g

process.removeAllListeners('warning')
process.on('warning', (warning) => {
  // That the function may still change is known; the package is built by one pinned Node.
  if (warning.name !== 'ExperimentalWarning') console.error(warning.message)
})

rmSync(target, { recursive: true, force: true })
const count = strip(join(root, 'src'), target) + strip(join(root, 'explorer'), join(target, 'explorer'))
console.error(`dist/: ${count} files`)

/** @returns how many files were written */
function strip(from: string, to: string): number {
  let written = 0
  for (const file of globSync('**/*', { cwd: from, withFileTypes: true })) {
    if (!file.isFile() || /\.test\.ts$|^tsconfig\.json$/.test(file.name)) continue
    const path = join(file.parentPath, file.name)
    const copy = join(to, path.slice(from.length + 1))
    mkdirSync(dirname(copy), { recursive: true })
    if (path.endsWith('.ts')) {
      const stripped = stripTypeScriptTypes(readFileSync(path, 'utf8'), { mode: 'strip' })
      writeFileSync(copy.replace(/\.ts$/, '.js'), stripped.replace(SPECIFIER, '$1$2$3.js$2'))
    } else {
      cpSync(path, copy)
    }
    written++
  }
  return written
}
