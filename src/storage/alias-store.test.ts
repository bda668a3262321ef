import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../test/durability/folder.ts'
import type { Alias } from '../aliases/store.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { compareNames } from '../series/tag-names.ts'
import { openDataDirectory } from './data-directory.ts'
import { openDatabase } from './environment.ts'
import { backupDataDirectory, checkDataDirectory } from './maintenance.ts'
import { DATABASES } from './names.ts'

const allow = () => {}

function alias(name: string, tag = 'plant/FLOW'): Alias {
  return { name, tag, description: null, units: null }
}

async function storeIn(path: string, t: TestContext) {
  const directory = await openDataDirectory(path, { owner: false, create: true })
  t.after(() => directory.close())
  return directory
}

test('an alias comes back as it was put, is replaced as a whole, and goes', async (t) => {
  const { aliases } = await storeIn(temporaryFolder(t), t)
  const first = { name: 'boiler/æ 😀', tag: 'calc/ADD(plant/A, 1)', description: 'd "x"\n', units: 't/h' }
  assert.equal(await aliases.put(first, allow), 'created')
  assert.deepEqual(await aliases.read((reader) => reader.get(first.name)), first)
  assert.equal(await aliases.put(alias(first.name), allow), 'replaced')
  assert.deepEqual(await aliases.read((reader) => reader.get(first.name)), alias(first.name))
  assert.equal(await aliases.delete(first.name, allow), true)
  assert.equal(await aliases.delete(first.name, allow), false)
  assert.equal(await aliases.read((reader) => reader.get(first.name)), null)
})

test('pages come in code point order, by prefix, without gap or repeat', async (t) => {
  const { aliases } = await storeIn(temporaryFolder(t), t)
  const names = [
    'a',
    'a/',
    'a/b',
    'a/b/c',
    'ab',
    'b',
    'ÿ',
    '\uffee',
    '\u{1f600}',
    'a'.repeat(512),
    '\uffee'.repeat(512),
  ]
  for (const name of names) await aliases.put(alias(name), allow)
  for (const prefix of ['', 'a', 'a/', 'a/b', 'b', 'c', '\uffee', '\u{1f600}']) {
    const wanted = names.filter((name) => name.startsWith(prefix)).sort(compareNames)
    for (const limit of [1, 2, 100]) {
      const found: string[] = []
      for (let after: string | null = null; ; after = found.at(-1)!) {
        const page = await aliases.read((reader) => reader.list({ prefix, after, limit }))
        found.push(...page.map(({ name }) => name))
        if (page.length < limit) break
      }
      assert.deepEqual(found, wanted, `${prefix} ${limit}`)
    }
  }
  assert.deepEqual(await aliases.read((reader) => reader.list({ prefix: 'a/', after: 'zzz', limit: 9 })), [])
})

test('a check sees the state that it guards, and its refusal changes nothing', async (t) => {
  const { aliases } = await storeIn(temporaryFolder(t), t)
  await aliases.put(alias('a'), allow)
  const refusal = new TidemarkError('ALIAS_CYCLE', { name: 'a', path: '' })
  const refuse = () => {
    throw refusal
  }
  await assert.rejects(aliases.put(alias('a', 'other/X'), refuse), refusal)
  await assert.rejects(aliases.delete('a', refuse), refusal)
  assert.deepEqual(await aliases.read((reader) => reader.get('a')), alias('a'))
  // Of two that exclude each other, whichever comes second finds the first.
  const unless = (other: string) => (reader: { get(name: string): Alias | null }) => {
    if (reader.get(other) !== null) throw refusal
  }
  const outcomes = await Promise.allSettled([
    aliases.put(alias('x'), unless('y')),
    aliases.put(alias('y'), unless('x')),
  ])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('what another process puts is there with the next look', async (t) => {
  const path = temporaryFolder(t)
  const { aliases } = await storeIn(path, t)
  await aliases.put(alias('mine'), allow)
  const script = `
    import { openDataDirectory } from ${JSON.stringify(join(import.meta.dirname, 'data-directory.ts'))}
    const directory = await openDataDirectory(${JSON.stringify(path)}, { owner: false })
    const mine = await directory.aliases.read((reader) => reader.get('mine'))
    await directory.aliases.put({ ...mine, name: 'theirs' }, () => {})
    await directory.aliases.delete('mine', () => {})
    await directory.close()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  assert.equal(await aliases.read((reader) => reader.get('mine')), null)
  assert.deepEqual(await aliases.read((reader) => reader.get('theirs')), alias('theirs'))
})

test('aliases are in a backup, and a check finds the damaged ones, which lead nowhere', async (t) => {
  const path = temporaryFolder(t)
  const directory = await storeIn(path, t)
  for (const name of ['a', 'b', 'c']) await directory.aliases.put(alias(name), allow)
  const target = join(temporaryFolder(t), 'backup')
  const { signal } = new AbortController()
  await backupDataDirectory(path, target, signal)
  const copy = await storeIn(target, t)
  assert.deepEqual(await copy.aliases.read((reader) => reader.get('b')), alias('b'))

  const store = openDatabase(directory.system, DATABASES.aliases)
  await store.put(Buffer.from('b'), Buffer.from('{"tag":5}'))
  await store.put(Buffer.from('c'), Buffer.from([0xff]))
  const check = await checkDataDirectory(path, signal)
  assert.deepEqual([check.aliases, check.damagedAliases, check.isSound], [3, 2, false])
  assert.equal(await directory.aliases.read((reader) => reader.get('c')), null)
  const rest = await directory.aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 9 }))
  assert.deepEqual(rest, [alias('a')])
})
