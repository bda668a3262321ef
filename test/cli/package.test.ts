import assert from 'node:assert/strict'
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { PROJECT, serve, temporaryFolder, tidemark } from './run.ts'

/** What npm says when a registry is not there, which is no fault of the package. */
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/

function npm(args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  return spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    timeout: 300_000,
  })
}

describe('the package of npm pack', async () => {
  const folder = await temporaryFolder()

  it('runs where nothing else is: a version, a service, a first call', async (context) => {
    // The project's .npmrc keeps scripts of dependencies from running, and with them our own prepack.
    const packed = npm(['pack', '--ignore-scripts=false', '--json', '--pack-destination', folder], PROJECT)
    assert.equal(packed.status, 0, packed.stderr)
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
    const [{ files }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('['))) as [
      { files: { path: string }[] },
    ]
    const paths = files.map(({ path }) => path)
    assert.ok(paths.includes('dist/main.js') && paths.includes('bin/tidemark.js'))
    assert.deepEqual(
      paths.filter((path) => path.startsWith('src/') || path.endsWith('.ts') || /(^|\/)data\//.test(path)),
      [],
    )

    await writeFile(join(folder, 'package.json'), '{"private": true}')
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    const installed = npm(['install', ...options, join(folder, tarball)], folder)
    if (installed.status !== 0 && UNREACHABLE.test(installed.stderr)) {
      return context.skip('the registry cannot be reached, and its packages are not in the cache of npm')
    }
    assert.equal(installed.status, 0, installed.stderr)

    // As an operator installs it, with the command on the path.
    const global = ['install', '--global', '--prefix', join(folder, 'global'), ...options]
    const installedGlobally = npm([...global, join(folder, tarball)], folder)
    assert.equal(installedGlobally.status, 0, installedGlobally.stderr)
    if (process.platform !== 'win32') {
      const command = spawnSync(join(folder, 'global', 'bin', 'tidemark'), ['--version'], {
        encoding: 'utf8',
      })
      assert.match(command.stdout, /^\d+\.\d+\.\d+\n$/, command.stderr)
    }

    const bin = join(folder, 'node_modules', 'tidemark', 'bin', 'tidemark.js')
    assert.ok(!existsSync(join(folder, 'node_modules', 'tidemark', 'src')))
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }
    assert.deepEqual(await tidemark(['--version'], { cwd: folder, bin }), {
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })

    const service = await serve([], { cwd: folder, bin })
    const points = {
      'local/A': { timestamps: ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'], values: [1, 3] },
    }
    const written = await service.post('/historian/write/points', { points, createTags: true })
    assert.equal(written.body.message, 'All points written!')
    const details = { at: '2026-01-01T00:30:00Z' }
    const call = {
      timeZone: 'Europe/Oslo',
      requests: { a: { type: 'HISTORICAL_POINT', tag: 'calc/ADD(A, 1)', details } },
    }
    const { body } = await service.post('/historian/multi', call, service.readKey)
    assert.deepEqual(body.results, {
      a: { dataPoint: { timestamp: '2026-01-01T01:30:00.000+01:00', value: 3, status: 'OK' } },
    })
    const reference = await fetch(`${service.url}/docs/`)
    assert.equal(reference.status, 200)
    const page = await (await fetch(service.url)).text()
    const modules = Array.from(page.matchAll(/(?:href|src)="([^"]+)"/g), ([, address]) => address!)
    assert.ok(modules.length > 20)
    for (const address of modules) {
      assert.equal((await fetch(new URL(address, service.url))).status, 200, address)
    }
    assert.equal(await service.stop(), 0)
  })
})
