import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { ENVIRONMENT_SETTINGS } from '../../src/config/environment.ts'
import { fileSchema } from '../../src/config/schema.ts'
import { PROJECT } from './run.ts'

const page = readFileSync(join(PROJECT, 'docs', 'configuration.md'), 'utf8')

/** The paths of all settings that are no objects themselves. */
function leavesOf(schema: z.core.JSONSchema.BaseSchema, path: string): readonly string[] {
  const { properties } = schema.type === 'object' ? schema : ((schema.anyOf?.[0] ?? {}) as typeof schema)
  if (properties === undefined) return [path]
  return Object.entries(properties).flatMap(([name, inner]) =>
    leavesOf(inner as z.core.JSONSchema.BaseSchema, path === '' ? name : `${path}.${name}`),
  )
}

describe('docs/configuration.md', () => {
  const settings = leavesOf(z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }), '')

  it('has a row for every setting', () => {
    assert.ok(settings.length > 20)
    for (const setting of settings) assert.ok(page.includes(`\`${setting}\``), setting)
  })

  it('names the variable of every setting that has one, in its row', () => {
    for (const [variable, setting] of Object.entries(ENVIRONMENT_SETTINGS)) {
      assert.ok(settings.includes(setting), setting)
      const row = page.split('\n').find((line) => line.startsWith(`| \`${setting}\``))
      assert.ok(row?.includes(`\`${variable}\``), `${variable} in the row of ${setting}`)
    }
  })
})
