import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { PROJECT, type RunningService, serve, temporaryFolder } from '../cli/run.ts'
import { readRecipes, type Step } from './page.ts'
import { NOW, writePlant, ZONE } from './plant.ts'

const RECIPES = readRecipes(readFileSync(join(PROJECT, 'docs', 'cookbook.md'), 'utf8'))

/** The service that answers, and where its historian `plant` is. */
const PLANTS: Readonly<Record<string, (cwd: string) => Promise<RunningService>>> = {
  'of its own': (cwd) => start(cwd, 'type: embedded'),
  async 'of another instance'(cwd) {
    const { url, writeKey } = await start(await temporaryFolder(), 'type: embedded')
    const settings = `type: tidemark, url: "${url}", historian: plant, key: {env: PLANT_KEY}, writable: true`
    return start(cwd, settings, { PLANT_KEY: writeKey })
  },
}

async function start(cwd: string, plant: string, env: Record<string, string> = {}): Promise<RunningService> {
  await writeFile(join(cwd, 'tidemark.yaml'), `historians:\n  plant: {${plant}}\n`)
  return serve([], { cwd, env })
}

for (const [place, startService] of Object.entries(PLANTS))
  describe(`docs/cookbook.md, with a historian ${place}`, () => {
    let service: RunningService
    let cwd = ''
    before(async () => {
      cwd = await temporaryFolder()
      await mkdir(join(cwd, 'bin'))
      service = await startService(cwd)
      await writePlant(service)
      // The command as it is installed.
      const script = `#!/bin/sh\nexec '${process.execPath}' '${join(PROJECT, 'bin', 'tidemark.js')}' "$@"\n`
      await writeFile(join(cwd, 'bin', 'tidemark'), script, { mode: 0o755 })
    })

    test('has 25 questions', () => {
      assert.equal(RECIPES.length, 25)
      for (const [i, { title, steps }] of RECIPES.entries()) {
        assert.ok(title.startsWith(`${i + 1}. `), title)
        assert.deepEqual(new Set(steps.map(({ kind }) => kind)), new Set(['call', 'command']), title)
      }
    })

    for (const { title, steps } of RECIPES) {
      test(title, async () => {
        for (const step of steps) {
          if (step.kind === 'call') await call(step)
          else await command(step)
        }
      })
    }

    async function call({ path, body, answer }: Extract<Step, { kind: 'call' }>): Promise<void> {
      const common = path.endsWith('/multi') ? { now: NOW, timeZone: ZONE } : {}
      const found = await service.post(path, { ...common, ...body }, service.writeKey)
      assert.equal(found.status, 200, JSON.stringify(found.body))
      const shown = Object.keys(answer).map((name) => [
        name,
        name === 'next' ? cut(found.body.next) : found.body[name],
      ])
      assert.deepEqual(Object.fromEntries(shown), answer)
      assert.equal(found.body.warnings, undefined)
    }

    async function command({ command, output }: Extract<Step, { kind: 'command' }>): Promise<void> {
      const env = {
        ...process.env,
        PATH: `${join(cwd, 'bin')}:${process.env.PATH}`,
        TIDEMARK_URL: service.url,
        TIDEMARK_KEY: service.writeKey,
        TIDEMARK_NOW: NOW,
        TIDEMARK_ZONE: ZONE,
      }
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd, env, timeout: 600_000 })
      assert.equal(stdout.trimEnd(), output, command)
    }
  })

/** Cursors as the page shows them. */
function cut(next: unknown): object {
  return Object.fromEntries(Object.keys(next as object).map((label) => [label, '...']))
}
