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
  scheduling: [],
  tracing: [],
  json: ['errors'],
  time: ['errors'],
  series: ['errors', 'time'],
  grammar: ['errors', 'time', 'series'],
  historian: ['errors', 'tracing', 'time', 'series', 'grammar'],
  calc: ['errors', 'scheduling', 'time', 'series', 'grammar'],
  aliases: ['errors', 'scheduling', 'time', 'series', 'grammar', 'historian'],
  storage: ['errors', 'scheduling', 'time', 'series', 'historian', 'config', 'aliases'],
  config: ['errors', 'time', 'grammar'],
  drivers: ['errors', 'scheduling', 'time', 'series', 'grammar', 'historian', 'aliases', 'storage', 'config'],
  write: ['errors', 'scheduling', 'json', 'time', 'series', 'grammar', 'historian'],
  multi: ['errors', 'scheduling', 'tracing', 'json', 'time', 'series', 'grammar', 'historian', 'calc'],
  http: [
    'errors',
    'scheduling',
    'tracing',
    'json',
    'time',
    'series',
    'grammar',
    'historian',
    'calc',
    'aliases',
    'multi',
    'write',
    'config',
  ],
  demo: ['errors', 'time', 'series', 'historian', 'write', 'config'],
  cluster: ['errors', 'historian', 'config'],
  cli: [
    'errors',
    'time',
    'series',
    'grammar',
    'historian',
    'calc',
    'aliases',
    'multi',
    'write',
    'config',
    'demo',
  ],
}

const ROOT = join(import.meta.dirname, '..')
const src = join(ROOT, 'src')
const explorer = join(ROOT, 'explorer')
const IMPORT = /(?:from|import)\s+'(\.[^']+)'/g

interface Import {
  readonly file: string
  readonly folder: string
  /** Path of the imported file, and its folder. */
  readonly path: string
  readonly imported: string
}

function readImports(root: string): readonly Import[] {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return Array.from(text.matchAll(IMPORT), ([, from]) => {
      const path = relative(root, join(root, dirname(file), from!))
      return { file, folder: folderOf(file), path, imported: folderOf(path) }
    })
  })
}

function folderOf(file: string): string {
  const [first] = file.split('/')
  return first!.endsWith('.ts') ? 'main' : first!
}

test('a folder imports only what stands left of it in the order of docs/architecture.md', (t) => {
  const imports = readImports(src)
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

test('a room of src/storage imports only what stands left of it in the order of docs/storage.md', () => {
  const page = readFileSync(join(ROOT, 'docs', 'storage.md'), 'utf8')
  const order = /Imports go one way: `([^`]+)`/.exec(page)![1]!
  const places = order.split('<').map((rooms) => rooms.split(',').map((room) => room.trim()))
  const storage = join(src, 'storage')
  const rooms = new Set(globSync('*/', { cwd: storage }).map((room) => room.replace('/', '')))
  assert.deepEqual(new Set(places.flat()), rooms)
  const placeOf = (room: string) => places.findIndex((some) => some.includes(room))
  const isOutside = (path: string) => path.startsWith('..')
  const wrong = readImports(storage).flatMap(({ file, folder, path, imported }) => {
    if (isOutside(path) || folder === imported) return []
    // Files beside the rooms, such as damage.ts, stand behind `files` and before all other rooms.
    const isRight =
      imported === 'main'
        ? folder !== 'files'
        : folder === 'main'
          ? imported === 'files'
          : placeOf(imported) < placeOf(folder)
    return isRight ? [] : [`${file} imports ${path}`]
  })
  assert.deepEqual(wrong, [])
})

test('drivers do not import each other, and only src/main/drivers.ts names them', () => {
  const files = globSync('**/*.ts', { cwd: src })
  const naming = files.filter((file) => {
    if (file.startsWith('drivers/') || file === 'main/drivers.ts') return false
    return /(?:from |import\()'\.[^']*\/drivers\//.test(readFileSync(join(src, file), 'utf8'))
  })
  assert.deepEqual(naming, [])
})

test('the explorer imports its own modules and two libraries, and nothing of src', () => {
  const wrong: string[] = []
  for (const file of globSync('**/*.ts', { cwd: explorer }).filter((name) => !name.endsWith('.test.ts'))) {
    for (const [, from] of readFileSync(join(explorer, file), 'utf8').matchAll(
      /(?:from|import)\s+'([^']+)'/g,
    )) {
      const isOwn =
        from!.startsWith('.') && !relative(explorer, join(explorer, dirname(file), from!)).startsWith('..')
      if (!isOwn && !/^(?:lit-html|@preact\/signals-core)(?:\/|$)/.test(from!))
        wrong.push(`${file} imports ${from}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('no file imports itself through others, also not for a type', () => {
  for (const root of [src, explorer]) assert.deepEqual(circlesOf(readImports(root)), [])
})

function circlesOf(all: readonly Import[]): readonly string[] {
  const imports = Map.groupBy(all, ({ file }) => file)
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, above: readonly string[]): void => {
    const start = above.indexOf(file)
    if (start >= 0) circles.push([...above.slice(start), file].join(' -> '))
    if (start >= 0 || done.has(file)) return
    for (const { path } of imports.get(file) ?? []) visit(path, [...above, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  return circles
}

const MOST_LINES = 400
/** Tests that are longer: lists of cases. What is not named here is short enough, and what is named is not yet. */
const LONGER = [
  'src/time/parse.test.ts',
  'src/write/body/points-reader.test.ts',
  'src/write/write-points.test.ts',
  'test/conformance/aggregates.test.ts',
  'test/conformance/calculations.test.ts',
  'test/conformance/http.test.ts',
  'test/conformance/metadata.test.ts',
  'test/conformance/reads.test.ts',
  'test/conformance/timestamps.test.ts',
  'test/conformance/write.test.ts',
  'test/drivers/clickhouse/server.test.ts',
  'test/drivers/postgres/existing.test.ts',
  'test/drivers/postgres/managed.test.ts',
  'test/http/aliases.test.ts',
]

test('a file is short enough to hold in the head', () => {
  const long = globSync('{src,test}/**/*.ts', { cwd: ROOT }).filter(
    (file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1 > MOST_LINES,
  )
  assert.deepEqual(long.sort(), LONGER)
})

const WIDEST = 120

test('no line of prose is wider than 120 columns, in comments and in documents', () => {
  const sources = ['src', 'explorer', 'bench', 'test'].flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,js}`, { cwd: ROOT }),
  )
  const comments = sources.flatMap((file) => tooWide(file, (line) => /^\s*(\/\/|\/\*\*|\*) [^|]/.test(line)))
  const documents = ['*.md', 'docs/**/*.md', 'test/**/*.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT }),
  )
  const prose = documents.flatMap((file) => {
    let isCode = false
    return tooWide(file, (line) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      return !isCode && !/^\s*(\||#|!\[|<)/.test(line)
    })
  })
  assert.ok(sources.length > 100 && documents.length > 10)
  assert.deepEqual([...comments, ...prose], [])
})

function tooWide(file: string, isProse: (line: string) => boolean): readonly string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  return lines.flatMap((line, i) => (isProse(line) && line.length > WIDEST ? [`${file}:${i + 1}`] : []))
}
