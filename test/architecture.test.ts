import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

/**
 * Which folder of src may import which, beside itself: the order of docs/architecture.md, written out. A folder that is
 * not listed here fails, so that a new one gets its place in the order.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  time: ['errors'],
  series: ['errors', 'time'],
  grammar: ['errors', 'time', 'series'],
  historian: ['errors', 'time', 'series', 'grammar'],
  calc: ['errors', 'time', 'series', 'grammar'],
  aliases: ['errors', 'time', 'series', 'grammar', 'historian'],
  storage: ['errors', 'time', 'series', 'historian', 'config', 'aliases'],
  config: ['errors', 'time', 'grammar'],
  drivers: ['errors', 'time', 'series', 'grammar', 'historian', 'aliases', 'storage', 'config'],
  write: ['errors', 'time', 'series', 'grammar', 'historian'],
  multi: ['errors', 'time', 'series', 'grammar', 'historian', 'calc'],
  http: ['errors', 'time', 'series', 'grammar', 'historian', 'calc', 'aliases', 'multi', 'write', 'config'],
  demo: ['errors', 'time', 'series', 'historian', 'write', 'config'],
  cluster: ['errors', 'historian', 'config'],
  cli: ['errors', 'time', 'series', 'grammar', 'historian', 'calc', 'multi', 'write', 'config', 'demo'],
}

const src = join(import.meta.dirname, '..', 'src')
const IMPORT = /(?:from|import)\s+'(\.[^']+)'/g

interface Import {
  readonly file: string
  readonly folder: string
  readonly imported: string
}

function readImports(): readonly Import[] {
  const files = globSync('**/*.ts', { cwd: src }).filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  return files.flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return Array.from(text.matchAll(IMPORT), ([, path]) => ({
      file,
      folder: folderOf(file),
      imported: folderOf(relative(src, join(src, dirname(file), path!))),
    }))
  })
}

function folderOf(file: string): string {
  const [first] = file.split('/')
  return first!.endsWith('.ts') ? 'main' : first!
}

test('a folder imports only what stands left of it in the order of docs/architecture.md', (t) => {
  const imports = readImports()
  assert.ok(imports.length > 100, 'the imports were read')
  const graph = new Map<string, Set<string>>()
  const wrong: string[] = []
  for (const { file, folder, imported } of imports) {
    if (folder === imported || folder === 'main') continue
    graph.set(folder, (graph.get(folder) ?? new Set()).add(imported))
    if (!MAY_IMPORT[folder]?.includes(imported)) wrong.push(`${file} imports ${imported}`)
  }
  for (const [folder, imported] of graph) t.diagnostic(`${folder} -> ${[...imported].sort().join(', ')}`)
  assert.deepEqual(wrong, [])
})

test('drivers do not import each other, and only src/main.ts names them', () => {
  const files = globSync('**/*.ts', { cwd: src })
  const naming = files.filter((file) => {
    if (file.startsWith('drivers/') || file === 'main.ts') return false
    return /from '[^']*\/drivers\//.test(readFileSync(join(src, file), 'utf8'))
  })
  assert.deepEqual(naming, [])
})
