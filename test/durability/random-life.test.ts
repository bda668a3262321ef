import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Life } from './random-life.ts'

/** Lives, and the first of their seeds. */
const LIVES = Number(process.env.RANDOM_LIVES ?? 20)
const FIRST = Number(process.env.RANDOM_LIVES_FROM ?? 1)

for (const [what, dangers] of [
  ['kills and power cuts', { faults: false, retention: false, repairs: false }],
  ['retention, kills and power cuts', { faults: false, retention: true, repairs: false }],
  ['faults, kills and power cuts', { faults: true, retention: false, repairs: false }],
  ['faults, retention, kills and power cuts', { faults: true, retention: true, repairs: false }],
  ['lost manifests, kills and power cuts', { faults: false, retention: false, repairs: true }],
] as const) {
  test(`lives with ${what} have all that was acknowledged and nothing that was taken away`, async () => {
    for (let seed = FIRST; seed < FIRST + LIVES; seed++) {
      const base = mkdtempSync(join(tmpdir(), 'tidemark-life-'))
      try {
        await new Life(base, seed, dangers).run()
      } catch (error) {
        throw new Error(`life ${seed}`, { cause: error })
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    }
  })
}
