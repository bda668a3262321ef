import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { before, describe, test } from 'node:test'
import { type RunningService, serve, temporaryFolder } from '../cli/run.ts'
import { type FoundPython, findPython } from '../servers/python.ts'

/** The client as its makers publish it; `.ci/run` installs it. Nothing of it is changed. */
const sdk: FoundPython = findPython('python-eigen-ingenuity', 'eigeningenuity', 'pytest')
const TIME_LIMIT_MS = 400_000

interface Outcome {
  readonly code: number | null
  readonly output: string
}

async function python(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const child = spawn(sdk.path!, args, { env: { ...process.env, ...env }, timeout: TIME_LIMIT_MS })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, output: output + errors }
}

/** A service with historians of these names. */
async function serveHistorians(names: readonly string[]): Promise<RunningService> {
  const cwd = await temporaryFolder()
  await mkdir(join(cwd, 'data'), { recursive: true })
  const historians = names.map((name) => `  ${name}:\n    type: embedded\n`).join('')
  await writeFile(join(cwd, 'tidemark.yaml'), `historians:\n${historians}`)
  return serve([], { cwd })
}

describe("the origin's Python client", { skip: sdk.skip, timeout: 2 * TIME_LIMIT_MS }, () => {
  let folder = ''
  before(async () => {
    const found = await python(['-c', 'import regressiontests; print(regressiontests.__path__[0])'], {})
    assert.equal(found.code, 0, found.output)
    folder = join(found.output.trim(), 'eigeningenuity', 'historian-multi')
  })

  test('passes the regression suite that it brings', async () => {
    const service = await serveHistorians(['Demo-influxdb', 'eigen_manual_input'])
    const tags = ['DEMO_02TI301.PV', 'DEMO_02TI201.PV'].map((name) => `Demo-influxdb/${name}`)
    const now = Date.now()
    const points = Array.from({ length: 60 }, (_, i) => ({ timestamp: now - i * 60_000, value: i }))
    const body = { points: Object.fromEntries(tags.map((tag) => [tag, points])), createTags: true }
    const written = await service.post('/historian/write/points', body, service.writeKey)
    assert.equal(written.status, 200)

    const args = [
      '-m',
      'pytest',
      '-p',
      'no:cacheprovider',
      '-q',
      '-rs',
      folder,
      '--ingenuity-url',
      service.url,
    ]
    const { code, output } = await python(args, { EIGEN_INGENUITY_API_TOKEN: service.writeKey })
    assert.equal(code, 0, output)
    const [, passed] = /(\d+) passed/.exec(output) ?? []
    assert.ok(Number(passed) > 70, output)
    // It leaves out an output that the client does not have, and calls that the client itself cannot encode.
    const reasons = /CSV output not implemented yet|Object of type datetime is not JSON serializable/
    for (const reason of output.matchAll(/^SKIPPED .*$/gm)) assert.match(reason[0], reasons)
  })

  test('gets from each method what was written', async () => {
    const service = await serveHistorians(['manual', 'plant'])
    const { code, output } = await python(
      [join(import.meta.dirname, 'python-sdk.py'), service.url, service.writeKey],
      {},
    )
    assert.equal(code, 0, output)
    assert.ok((output.match(/^ok /gm) ?? []).length > 40, output)
  })
})
