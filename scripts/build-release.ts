/**
 * Makes what is installed where npm is not: for each platform a tarball with Node in it, and for this machine's an
 * image of the Open Container Initiative, built with umoci and no container engine. All of them hold the same files of
 * the program.
 *
 *   node scripts/build-release.ts FOLDER [--platform linux-x64 | linux-arm64] [--image]
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly files: readonly string[]
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const PLATFORMS = ['linux-x64', 'linux-arm64'] as const
type Platform = (typeof PLATFORMS)[number]

/** User of the image, which nothing else on a machine is likely to have. */
const IMAGE_USER = '10001:10001'
const INSTALLED = '/opt/tidemark'
const DATA = '/var/lib/tidemark'

const LAUNCHER = `#!/bin/sh
# Starts Tidemark with the Node beside it.
self=$0
[ -h "$self" ] && self=$(readlink -f "$self")
here=$(dirname "$self")
exec "$here/node/bin/node" --max-semi-space-size=8 "$here/app/bin/tidemark.js" "$@"
`

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** The program without Node: the same for every platform, as none of its dependencies is compiled. */
function stageApp(folder: string): void {
  run(process.execPath, [join(root, 'scripts', 'build-package.ts')], root)
  for (const name of ['package.json', 'package-lock.json', ...manifest.files]) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  const options = [
    '--omit=dev',
    '--omit=optional',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
  ]
  run('npm', ['ci', ...options], folder)
}

/** Node for a platform, from the package that the launcher of npm takes it from. */
function stageNode(platform: Platform, folder: string, scratch: string): void {
  const name = `node-${platform}`
  const installed = join(root, 'node_modules', name)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  let from = installed
  if (!existsSync(join(installed, 'bin', 'node'))) {
    mkdirSync(scratch, { recursive: true })
    run('npm', ['pack', '--silent', `${name}@${manifest.optionalDependencies[name]}`], scratch)
    run('sh', ['-c', `tar -xzf ${name}-*.tgz`], scratch)
    from = join(scratch, 'package')
  }
  cpSync(join(from, 'bin', 'node'), join(folder, 'bin', 'node'))
  chmodSync(join(folder, 'bin', 'node'), 0o755)
}

/** @returns the folder with the program, Node and the launcher */
function stage(platform: Platform, target: string): string {
  const folder = join(target, `tidemark-${manifest.version}-${platform}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'app'), { recursive: true })
  stageApp(join(folder, 'app'))
  stageNode(platform, join(folder, 'node'), join(target, `node-${platform}`))
  writeFileSync(join(folder, 'tidemark'), LAUNCHER, { mode: 0o755 })
  rmSync(join(target, `node-${platform}`), { recursive: true, force: true })
  return folder
}

/** The same files give the same bytes: order, owners and times are fixed. */
function pack(folder: string, target: string): void {
  const name = folder.slice(target.length + 1)
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  run('sh', ['-c', `tar ${fixed.join(' ')} -cf - ${name} | gzip -n -6 > ${name}.tar.gz`], target)
}

/** Libraries that the Node of this machine's platform is linked with, as they are installed here. */
function librariesOf(program: string): readonly string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path]) => path!)
}

/** An image as a folder in OCI layout, and as one file that engines load. */
function buildImage(folder: string, target: string): void {
  const layout = join(target, 'image')
  const bundle = join(target, 'bundle')
  for (const path of [layout, bundle]) rmSync(path, { recursive: true, force: true })
  const image = `${layout}:${manifest.version}`
  const umoci = (...args: readonly string[]) => run('umoci', args, target)
  umoci('init', '--layout', layout)
  umoci('new', '--image', image)
  umoci('unpack', '--image', image, bundle)
  const files = join(bundle, 'rootfs')
  mkdirSync(join(files, INSTALLED), { recursive: true })
  run('cp', ['-a', '.', join(files, INSTALLED)], folder)
  for (const library of librariesOf(join(folder, 'node', 'bin', 'node'))) {
    mkdirSync(join(files, library, '..'), { recursive: true })
    run('cp', ['-L', library, join(files, library)], '/')
  }
  for (const empty of ['etc', 'tmp', 'proc', 'dev', DATA]) mkdirSync(join(files, empty), { recursive: true })
  writeFileSync(join(files, 'etc', 'passwd'), `tidemark:x:${IMAGE_USER}:Tidemark:${DATA}:/sbin/nologin\n`)
  writeFileSync(join(files, 'etc', 'group'), `tidemark:x:${IMAGE_USER.split(':')[1]}:\n`)
  chmodSync(join(files, 'tmp'), 0o1777)
  chmodSync(join(files, DATA), 0o700)
  run('chown', ['-R', IMAGE_USER, join(files, DATA)], '/')
  const node = `${INSTALLED}/node/bin/node`
  const entry = [node, '--max-semi-space-size=8', `${INSTALLED}/app/bin/tidemark.js`]
  umoci('repack', '--image', image, bundle)
  umoci(
    ...['config', '--image', image, '--config.user', IMAGE_USER, '--config.workingdir', DATA],
    ...entry.flatMap((part) => ['--config.entrypoint', part]),
    ...['serve', '--host', '0.0.0.0'].flatMap((part) => ['--config.cmd', part]),
    ...['--config.env', `TIDEMARK_DATA_DIR=${DATA}`, '--config.exposedports', '8080/tcp'],
    ...[
      '--config.volume',
      DATA,
      '--config.stopsignal',
      'SIGTERM',
      '--config.label',
      `org.opencontainers.image.version=${manifest.version}`,
    ],
  )
  umoci('gc', '--layout', layout)
  rmSync(bundle, { recursive: true, force: true })
  run('sh', ['-c', `tar --sort=name -cf ../tidemark-${manifest.version}-oci.tar .`], layout)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { platform: { type: 'string', multiple: true }, image: { type: 'boolean' } },
})
const target = resolve(positionals[0] ?? 'release')
mkdirSync(target, { recursive: true })
for (const platform of values.platform ?? PLATFORMS) {
  if (!(PLATFORMS as readonly string[]).includes(platform))
    throw new Error(`${platform} is no platform: one of ${PLATFORMS.join(', ')} is expected`)
  pack(stage(platform as Platform, target), target)
}
if (values.image === true) {
  const own = `linux-${process.arch}` as Platform
  const folder = join(target, `tidemark-${manifest.version}-${own}`)
  buildImage(existsSync(folder) ? folder : stage(own, target), target)
}
