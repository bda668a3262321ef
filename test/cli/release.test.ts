import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { DEFAULT_PORT, fileSchema } from '../../src/config/schema.ts'
import { type FoundServer, findServer, freePort } from '../servers/required.ts'
import { until } from '../until.ts'
import { PROJECT, serve, temporaryFolder } from './run.ts'

const umoci = findServer('umoci', 'umoci')
/** The arm64 tarball runs on processors of this kind by emulation, with the libraries of Debian's cross compilers. */
const ARM_LIBRARIES = '/usr/aarch64-linux-gnu'
const emulator = findEmulator()
const MAX_IMAGE_BYTES = 80_000_000
const SHUTDOWN_SECONDS = fileSchema.parse({}).server.shutdownSeconds
const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }
const platform = `linux-${process.arch}`
const script = join(PROJECT, 'scripts', 'build-release.ts')
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0
const skip =
  process.platform !== 'linux' ? 'releases are made on Linux' : umoci.skip !== false ? umoci.skip : false

function findEmulator(): FoundServer {
  const none = (skip: string): FoundServer => ({ path: null, skip })
  if (process.platform !== 'linux' || process.arch !== 'x64') return none('the release of x64 runs elsewhere')
  const found = findServer('qemu-user-static', 'qemu-aarch64-static')
  const hasLibraries = existsSync(join(ARM_LIBRARIES, 'lib', 'libatomic.so.1'))
  if (found.path !== null && !hasLibraries) {
    const missing = `the libraries of arm64 are not installed (${ARM_LIBRARIES})`
    if (process.env.TIDEMARK_SERVERS === 'required') throw new Error(missing)
    return none(missing)
  }
  return found
}

/** An image as it was unpacked. */
interface Image {
  readonly root: string
  readonly user: { readonly uid: number; readonly gid: number }
  readonly args: readonly string[]
  /** Where it keeps its data. */
  readonly data: string
}

// biome-ignore lint/suspicious/noExplicitAny: files of other programs, of which the tests look at a few fields
type Yaml = any

function example(...path: readonly string[]): Yaml[] {
  const documents = parseAllDocuments(readFileSync(join(PROJECT, 'deploy', ...path), 'utf8'))
  for (const { errors, warnings } of documents) assert.deepEqual([errors, warnings], [[], []])
  return documents.map((document) => document.toJS())
}

const compose = (): Yaml => example('compose', 'compose.yaml')[0]
const kubernetes = (kind: string): Yaml =>
  example('kubernetes', 'tidemark.yaml').find((one: Yaml) => one.kind === kind)
const podOf = (): Yaml => kubernetes('Deployment').spec.template.spec
const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe']

function probePaths(): readonly string[] {
  const [container] = podOf().containers
  return PROBES.map((name) => container[name].httpGet.path)
}

/** The examples for Compose and Kubernetes name what the image has: no engine is here to run them. */
function checkExamples({ root, user, args, data }: Image): void {
  const { services, volumes } = compose()
  const { tidemark } = services
  assert.equal(tidemark.image, `tidemark:${version}`)
  assert.equal(tidemark.user, `${user.uid}:${user.gid}`)
  assert.match(tidemark.ports[0], new RegExp(`:${DEFAULT_PORT}$`))
  const [volume, mounted] = tidemark.volumes[0].split(':')
  assert.deepEqual([mounted, Object.keys(volumes)], [data, [volume]])
  const [, program, ...probe] = tidemark.healthcheck.test
  assert.ok(statSync(join(root, program)).mode & 0o111)
  assert.match(probe.at(-1), new RegExp(`127\\.0\\.0\\.1:${DEFAULT_PORT}/health/live'`))
  assert.ok(Number.parseInt(tidemark.stop_grace_period, 10) > SHUTDOWN_SECONDS)

  const pod = podOf()
  const [container] = pod.containers
  assert.equal(container.image, `tidemark:${version}`)
  const { runAsUser, runAsGroup, fsGroup } = pod.securityContext
  assert.deepEqual([runAsUser, runAsGroup, fsGroup], [user.uid, user.gid, user.gid])
  assert.deepEqual(container.ports, [{ name: 'http', containerPort: DEFAULT_PORT }])
  for (const name of PROBES) assert.equal(container[name].httpGet.port, 'http')
  assert.deepEqual(container.args, args.slice(-container.args.length), 'what the image is started with')
  const [mount] = container.volumeMounts
  assert.equal(mount.mountPath, data)
  const [source] = pod.volumes
  assert.equal(source.name, mount.name)
  assert.equal(source.persistentVolumeClaim.claimName, kubernetes('PersistentVolumeClaim').metadata.name)
  const { selector, ports } = kubernetes('Service').spec
  assert.deepEqual(selector, kubernetes('Deployment').spec.template.metadata.labels)
  assert.equal(ports[0].targetPort, 'http')
  assert.ok(pod.terminationGracePeriodSeconds > SHUTDOWN_SECONDS)
}

describe('a release for arm64', { skip: emulator.skip }, async () => {
  it('runs on an emulated processor: it starts, writes, reads and stops', async () => {
    const folder = await temporaryFolder()
    execFileSync(process.execPath, [script, folder, '--platform', 'linux-arm64'], { stdio: 'ignore' })
    const program = join(folder, `tidemark-${version}-linux-arm64`)
    const node = join(folder, 'node')
    const start = `exec '${emulator.path}' -L ${ARM_LIBRARIES} '${join(program, 'node', 'bin', 'node')}' "$@"`
    writeFileSync(node, `#!/bin/sh\n${start}\n`, { mode: 0o755 })
    const said = execFileSync(node, ['-p', 'process.arch'], { encoding: 'utf8' })
    assert.equal(said, 'arm64\n')
    const cwd = await temporaryFolder()
    const service = await serve([], { cwd, node, bin: join(program, 'app', 'bin', 'tidemark.js') })
    assert.equal((await fetch(`${service.url}/health/ready`)).status, 200)
    const points = { 'local/A': [{ timestamp: '2026-01-15T10:00:00Z', value: 2.5 }] }
    assert.equal((await service.post('/historian/write/points', { points, createTags: true })).status, 200)
    const { body } = await service.post('/historian/multi', {
      requests: { a: { type: 'CURRENT_POINT', tag: 'local/A' } },
    })
    assert.deepEqual(body.results, {
      a: { dataPoint: { timestamp: '2026-01-15T10:00:00.000Z', value: 2.5, status: 'OK' } },
    })
    assert.equal(await service.stop(), 0)
  })
})

describe('a release', { skip }, async () => {
  const folder = await temporaryFolder()
  execFileSync(process.execPath, [script, folder, '--platform', platform, '--image'], { stdio: 'ignore' })

  it('has a tarball that runs where there is no Node, also through a link', async () => {
    const cwd = await temporaryFolder()
    execFileSync('tar', ['-xzf', join(folder, `tidemark-${version}-${platform}.tar.gz`)], { cwd })
    execFileSync('ln', ['-s', join(cwd, `tidemark-${version}-${platform}`, 'tidemark'), join(cwd, 'linked')])
    const env = { PATH: '/usr/bin:/bin' }
    const said = execFileSync(join(cwd, 'linked'), ['--version'], { env, encoding: 'utf8' })
    assert.equal(said, `${version}\n`)
    const app = join(cwd, `tidemark-${version}-${platform}`, 'app')
    const node = join(cwd, `tidemark-${version}-${platform}`, 'node', 'bin', 'node')
    const service = await serve([], { cwd, node, bin: join(app, 'bin', 'tidemark.js') })
    const points = { 'local/A': [{ timestamp: 1, value: 2 }] }
    assert.equal((await service.post('/historian/write/points', { points, createTags: true })).status, 200)
    assert.equal(await service.stop(), 0)
    assert.ok(readdirSync(app).includes('deploy'))
  })

  it('has an image that is small, and whose service runs as its own user on a root that nobody can write to', {
    skip: !canMount && 'mounting is not allowed here',
  }, async (t) => {
    const blobs = join(folder, 'image', 'blobs', 'sha256')
    const sizes = readdirSync(blobs).map((name) => statSync(join(blobs, name)).size)
    assert.ok(sizes.reduce((sum, size) => sum + size) < MAX_IMAGE_BYTES, String(sizes))

    const bundle = join(folder, 'bundle')
    execFileSync('umoci', ['unpack', '--image', `${join(folder, 'image')}:${version}`, bundle])
    const config = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as {
      process: { args: string[]; user: { uid: number; gid: number }; env: string[]; cwd: string }
    }
    const { args, user, env, cwd } = config.process
    assert.deepEqual([user.uid, user.gid, cwd], [10_001, 10_001, '/var/lib/tidemark'])
    const root = join(bundle, 'rootfs')
    const data = join(folder, 'volume')
    mkdirSync(data, { mode: 0o700 })
    execFileSync('chown', ['10001:10001', data])
    const port = await freePort()
    // What a container engine does: namespaces, a root that is mounted to be read, a volume, another user.
    const command = args.slice(0, -2).concat(['--host', '127.0.0.1', '--port', String(port)])
    const enter = `mount --bind '${root}' '${root}' && mount --bind '${data}' '${root}/var/lib/tidemark' &&
      mount -o remount,bind,ro '${root}' && mount -t proc proc '${root}/proc' &&
      exec chroot --userspec=10001:10001 '${root}' ${command.map((part) => `'${part}'`).join(' ')}`
    const container = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter], {
      env: Object.fromEntries(env.map((line) => line.split(/=(.*)/s).slice(0, 2))),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => container.kill('SIGKILL'))
    let output = ''
    for (const stream of [container.stdout, container.stderr])
      stream.on('data', (text) => {
        output += text
      })
    const exit = once(container, 'exit')
    await Promise.race([
      until(() => /answers at .*first-keys\.txt/s.test(output), 'it answers'),
      exit.then(() => assert.fail(output)),
    ])
    checkExamples({ root, user, args, data: cwd })
    for (const path of probePaths())
      assert.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200)
    const keys = join(data, 'first-keys.txt')
    assert.deepEqual([statSync(keys).uid, statSync(keys).mode & 0o777], [10_001, 0o600])
    const [, key] = /^read (tdm_\S+)$/m.exec(readFileSync(keys, 'utf8'))!
    const listed = await fetch(`http://127.0.0.1:${port}/historian/list`, { headers: { 'X-Api-Key': key! } })
    assert.deepEqual(await listed.json(), { historians: [{ name: 'local' }] })
    // As the compose example looks at it.
    const [, probe] = /"(fetch\([^"]*)"/.exec(
      readFileSync(join(PROJECT, 'deploy', 'compose', 'compose.yaml'), 'utf8'),
    )!
    const probed = spawnSync(process.execPath, ['-e', probe!.replace('8080', String(port))])
    assert.equal(probed.status, 0)
    // An engine signals the first process of the container; unshare itself takes no notice.
    const [first] = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ')
    process.kill(Number(first), 'SIGTERM')
    assert.deepEqual(await exit, [0, null], output)
    assert.match(output, /Stopped\.\n/)
  })
})
