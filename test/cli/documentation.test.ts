import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
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

describe('docs/historians/clickhouse.md', () => {
  const page = readFileSync(join(PROJECT, 'docs', 'historians', 'clickhouse.md'), 'utf8')

  it('says of each feature on which versions it is run, which its tests start', () => {
    const [, section] = page.split('## What was run on which version')
    const rows = section!
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => /^\| .* \|.* \|.* \|.* \|.* \|$/.test(line) && !line.startsWith('| feature |'))
    assert.ok(rows.length >= 12, `${rows.length} rows`)
    for (const row of rows) {
      const [, feature, files, servers, , engine] = row.split('|').map((cell) => cell.trim())
      const text = [...files!.matchAll(/`([^`]+)`/g)]
        .map(([, file]) => readFileSync(join(PROJECT, 'test', 'drivers', 'clickhouse', file!), 'utf8'))
        .join('\n')
      const isRun = (cell: string) => cell.startsWith('in every run')
      assert.equal(isRun(servers!), /\bENGINES\b|\bclickhouseServer\b|\bclusterSkip\b/.test(text), feature)
      // The statements of a cluster are read and not run by an engine that is one.
      const isRead = engine!.startsWith('its statements are parsed')
      assert.equal(isRun(engine!) || isRead, /\bENGINES\b|\bchdbServer\b/.test(text), feature)
    }
  })

  it('names the engine that the tests install', () => {
    const [, version] = /chdb-core==(\S+)/.exec(readFileSync(join(PROJECT, '.ci', 'run'), 'utf8'))!
    assert.ok(page.includes(`\`chdb-core\` ${version}`), version)
  })
})

describe('docs/operations.md', () => {
  const page = readFileSync(join(PROJECT, 'docs', 'operations.md'), 'utf8')
  const [own, connected] = page.split('## Connected historians: what happens when') as [string, string]

  /** The rows of a table of what happens name tests of some files, each at least one. */
  function assertShown(text: string, fewest: number, files: readonly string[]): void {
    const rows = text
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (what happens|what|) \|/.test(line))
    // Not what a comment says of one.
    const tests = globSync(files, { cwd: PROJECT })
      .flatMap((file) => readFileSync(join(PROJECT, file), 'utf8').split('\n'))
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
      .join('\n')
    assert.ok(rows.length >= fewest, `${rows.length} rows`)
    for (const row of rows) {
      const titles = [
        ...row
          .split(' | ')
          .at(-1)!
          .matchAll(/"([^"]+)"/g),
      ].map(([, title]) => title!)
      assert.ok(titles.length > 0, row)
      for (const title of titles) assert.ok(tests.includes(title), title)
    }
  }

  it('names tests that exist for everything that can happen to a historian of its own', () => {
    const table = own.split('## What an answer promises')[1]!
    assertShown(table, 18, ['test/**/*.test.ts', 'src/**/*.test.ts'])
  })

  it('names tests that exist for everything that can happen to a backup and to the archive', () => {
    const [, backup] = page.split('\n## Backup and restore')
    const [, archive] = page.split('\n## Archive of the log')
    const all = ['test/**/*.test.ts', 'src/**/*.test.ts']
    assertShown(backup!.split('\n## ')[0]!, 7, all)
    assertShown(archive!.split('\n## ')[0]!, 9, all)
  })

  it('names tests that exist for everything that can happen to a connected historian', () => {
    assertShown(connected.split('\n## ')[0]!, 16, ['test/drivers/**/*.ts'])
  })
})

describe('docs/storage.md', () => {
  const page = readFileSync(join(PROJECT, 'docs', 'storage.md'), 'utf8')

  it('names files of tests that exist for everything that fails', () => {
    const table = page.split('\n## When something fails')[1]!.split('\n## ')[0]!
    const names = [...table.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, name]) => name!)
    assert.ok(new Set(names).size >= 20, `${new Set(names).size} files`)
    for (const name of names) {
      const found = globSync([`test/durability/${name}`, `src/storage/${name}`], { cwd: PROJECT })
      assert.equal(found.length, 1, name)
    }
  })
})
