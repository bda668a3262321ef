import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join, posix } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { bareImports, LIBRARIES, libraryPath, relativeImports, rewriteImports } from './modules.ts'

const gzipWhole = promisify(gzip)

/** One file of the page as it is sent. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly gzipped: Buffer
}

/** The whole page. */
export interface ExplorerAssets {
  /** Of all content: addresses with it can be cached for ever. */
  readonly version: string
  /** By path below `explorer/<version>/`. */
  readonly files: ReadonlyMap<string, Asset>
  /** The page, with `%BASE%` where the address of its files belongs. */
  readonly page: string
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

let loading: Promise<ExplorerAssets> | null = null

/**
 * Reads and prepares the page at the first call, once for the process: types are stripped and imports rewritten, file
 * by file with yields to the event loop in between.
 */
export function explorerAssets(): Promise<ExplorerAssets> {
  loading ??= load(explorerFolder()).catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}

/** The project's icon, as SVG. */
export function readIcon(): Promise<Buffer> {
  return readFile(join(explorerFolder(), 'icon.svg'))
}

/** Beside `src` in a checkout, and inside `dist` in a package, where its modules are JavaScript already. */
function explorerFolder(): string {
  const packaged = fileURLToPath(new URL('../../explorer/', import.meta.url))
  return existsSync(packaged) ? packaged : fileURLToPath(new URL('../../../explorer/', import.meta.url))
}

async function load(folder: string): Promise<ExplorerAssets> {
  const texts = new Map<string, string>()
  const bare = new Set<string>()
  for (const file of (await readdir(folder, { recursive: true })).sort()) {
    const name = file.replaceAll('\\', '/')
    if (!/\.(?:ts|js|css|svg)$/.test(name) || name.endsWith('.test.ts')) continue
    const text = await readFile(join(folder, file), 'utf8')
    if (/\.(?:css|svg)$/.test(name)) {
      texts.set(name, text)
      continue
    }
    const code = name.endsWith('.ts') ? withoutTypes(text) : text
    const path = name.replace(/\.ts$/, '.js')
    for (const specifier of bareImports(code)) bare.add(specifier)
    texts.set(path, rewriteImports(squeeze(code), path))
    await nextTick()
  }
  for (const specifier of bare) await addLibrary(texts, specifier)
  return bundle(texts, await readFile(join(folder, 'index.html'), 'utf8'))
}

/** Node warns at the first call that the function may still change; the package brings the Node it was tried with. */
function withoutTypes(text: string): string {
  const { emitWarning } = process
  try {
    process.emitWarning = () => {}
    return stripTypeScriptTypes(text, { mode: 'strip' })
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Comments of their own lines and indentation are not sent: they would be a third of what is loaded. */
function squeeze(code: string): string {
  return code
    .replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^[ \t]*\/\/.*$/gm, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
}

/** A module of an installed package, and the modules that it imports from the same package. */
async function addLibrary(texts: Map<string, string>, specifier: string): Promise<void> {
  const served = libraryPath(specifier)
  const path = `${LIBRARIES}/${served}`
  if (texts.has(path)) return
  const code = await readFile(installedFile(specifier), 'utf8')
  texts.set(path, rewriteImports(code, path))
  const folder = posix.dirname(served)
  for (const relative of relativeImports(code)) await addLibrary(texts, posix.join(folder, relative))
}

/** Node would choose the build for servers of some packages, so the browser's file is named. */
function installedFile(specifier: string): string {
  if (specifier === '@preact/signals-core') {
    return fileURLToPath(new URL('signals-core.mjs', import.meta.resolve(specifier)))
  }
  const file = specifier === 'lit-html' ? 'lit-html.js' : specifier.replace(/^lit-html\//, '')
  return fileURLToPath(new URL(`../${file}`, import.meta.resolve('lit-html')))
}

async function bundle(texts: ReadonlyMap<string, string>, page: string): Promise<ExplorerAssets> {
  const hash = createHash('sha256').update(page)
  const files = new Map<string, Asset>()
  for (const [path, text] of texts) {
    hash.update(path).update(text)
    const body = Buffer.from(text)
    const type = TYPES[path.split('.').at(-1)!]!
    files.set(path, { type, body, gzipped: await gzipWhole(body, { level: 9 }) })
  }
  const version = hash.digest('hex').slice(0, 16)
  const modules = [...files.keys()].filter((path) => path.endsWith('.js'))
  const preloads = modules.map((path) => `<link rel="modulepreload" href="%BASE%/${path}">`).join('\n    ')
  return { version, files, page: page.replace('<!-- modules -->', preloads) }
}
