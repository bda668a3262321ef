import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it } from 'node:test'
import { PROJECT, temporaryFolder, tidemark } from './run.ts'

const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }

describe('the command line', async () => {
  const cwd = await temporaryFolder()

  it('prints its version and its help', async () => {
    assert.deepEqual(await tidemark(['--version'], { cwd }), { code: 0, stdout: `${version}\n`, stderr: '' })
    const help = await tidemark(['--help'], { cwd })
    assert.equal(help.code, 0)
    for (const command of [
      'serve',
      'keys',
      'import',
      'export',
      'query',
      'intervals',
      'gaps',
      'tags',
      'alias',
      'points',
      'check',
      'backup',
      'restore',
    ]) {
      assert.match(help.stdout, new RegExp(`^  ${command}\\b`, 'm'))
      const own = await tidemark([command, '--help'], { cwd })
      assert.equal(own.code, 0)
      if (!['keys', 'tags', 'alias', 'points'].includes(command)) assert.match(own.stdout, /Examples?:\n {2}/)
    }
  })

  it('keeps the sources of a checkout compiled for the next start, and for its threads', () => {
    const cache = join(PROJECT, 'node_modules', '.cache', 'tidemark')
    rmSync(cache, { recursive: true, force: true })
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    const run = spawnSync(process.execPath, [join(PROJECT, 'bin', 'tidemark.js'), '--version'], { env })
    assert.equal(run.status, 0)
    const kept = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    assert.ok(kept.length > 10, `${kept.length} files`)
  })

  it('refuses what it does not know, with the nearest name and exit code 2', async () => {
    const command = await tidemark(['serv'], { cwd })
    assert.equal(command.code, 2)
    assert.match(command.stderr, /unknown command 'serv'\n\(Did you mean serve\?\)/)
    const option = await tidemark(['serve', '--prot', '1'], { cwd })
    assert.equal(option.code, 2)
    assert.match(option.stderr, /unknown option '--prot'\n\(Did you mean --port\?\)/)
    assert.equal((await tidemark([], { cwd })).code, 2)
    const time = await tidemark(['restore', 'backup', 'data', '--to', 'nonsense'], { cwd })
    assert.equal(time.code, 2)
    assert.match(time.stderr, /nonsense/)
  })

  it('ends with exit code 2 and one sentence for a wrong configuration', async () => {
    const wrong = await tidemark(['serve', '--port', '70000'], { cwd })
    assert.equal(wrong.code, 2)
    assert.equal(
      wrong.stderr,
      'The settings are not valid: --port: "70000" is not allowed: a whole number from 0 to 65535 is expected\n',
    )
    const variable = await tidemark(['serve'], { cwd, env: { TIDEMARK_LOG_LEVEL: 'loud' } })
    assert.equal(variable.code, 2)
    assert.match(variable.stderr, /TIDEMARK_LOG_LEVEL: "loud" is not allowed: one of fatal/)
  })

  it('takes options from variables, an empty one or a "false" being none', async () => {
    const env = { TIDEMARK_NAME: 'by-variable', TIDEMARK_SCOPE: 'read', TIDEMARK_DATA_DIR: 'variables' }
    const quiet = await tidemark(['keys', 'create'], {
      cwd,
      env: { ...env, TIDEMARK_JSON: 'false', TIDEMARK_EXPIRES: '' },
    })
    assert.equal(quiet.code, 0, quiet.stderr)
    assert.match(quiet.stdout, /^tdm_\S+\n$/)
    const listed = await tidemark(['keys', 'list'], { cwd, env: { ...env, TIDEMARK_JSON: '1' } })
    const [key] = JSON.parse(listed.stdout) as { name: string; expiresAt: null }[]
    assert.deepEqual([key?.name, key?.expiresAt], ['by-variable', null])
    assert.ok(existsSync(join(cwd, 'variables')))
  })

  it('is handed to the Node that the package brings when started by an older one', (context) => {
    const older = olderNode()
    if (older === null) return context.skip('there is no older Node on this machine')
    const run = spawnSync(older, [join(PROJECT, 'bin', 'tidemark.js'), '--version'], {
      cwd,
      encoding: 'utf8',
    })
    assert.deepEqual([run.status, run.stdout], [0, `${version}\n`])
  })

  it('says what is missing when there is only an older Node', (context) => {
    const older = olderNode()
    if (older === null) return context.skip('there is no older Node on this machine')
    const alone = join(cwd, 'alone', 'bin')
    mkdirSync(alone, { recursive: true })
    cpSync(join(PROJECT, 'bin', 'tidemark.js'), join(alone, 'tidemark.mjs'))
    mkdirSync(join(cwd, 'alone', 'dist'))
    writeFileSync(join(cwd, 'alone', 'dist', 'main.js'), '')
    const run = spawnSync(older, [join(alone, 'tidemark.mjs'), '--version'], { cwd, encoding: 'utf8' })
    assert.equal(run.status, 1)
    assert.match(run.stderr, /^tidemark needs Node 26 or newer, and this is Node \d+\./)
    assert.match(run.stderr, /--omit=optional/)
  })
})

/** A Node before 26 on the path, outside this project. */
function olderNode(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, process.platform === 'win32' ? 'node.exe' : 'node')
    if (folder.includes('node_modules') || !existsSync(node)) continue
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    const major = Number(/^v(\d+)/.exec(stdout ?? '')?.[1])
    if (major >= 18 && major < 26) return node
  }
  return null
}
