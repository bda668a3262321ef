import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Alias, AliasStore } from '../../src/aliases/store.ts'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { compareNames } from '../../src/series/tag-names.ts'

/** A fresh place for aliases; each call of `open` is as another process would open it, until the test is over. */
export type OpenAliases = (t: TestContext) => Promise<{ open(): Promise<AliasStore> }>

export const allow = () => {}

export function alias(name: string, tag = 'plant/FLOW'): Alias {
  return { name, tag, description: null, units: null }
}

/** What every store of aliases promises (src/aliases/store.ts). */
export function promiseAliasStore(place: OpenAliases, options: { readonly skip: string | false }): void {
  test('an alias comes back as it was put, is replaced as a whole, and goes', options, async (t) => {
    const aliases = await (await place(t)).open()
    const first = {
      name: "boiler/æ 😀';--\\",
      tag: 'calc/ADD(plant/A, 1)',
      description: 'd "x"\n',
      units: 't/h',
    }
    assert.equal(await aliases.put(first, allow), 'created')
    assert.deepEqual(await aliases.read((reader) => reader.get(first.name)), first)
    assert.equal(await aliases.put(alias(first.name), allow), 'replaced')
    assert.deepEqual(await aliases.read((reader) => reader.get(first.name)), alias(first.name))
    assert.equal(await aliases.delete(first.name, allow), true)
    assert.equal(await aliases.delete(first.name, allow), false)
    assert.equal(await aliases.read((reader) => reader.get(first.name)), null)
    assert.deepEqual(await aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 9 })), [])
    assert.equal(await aliases.put(first, allow), 'created')
    assert.deepEqual(await aliases.read((reader) => reader.get(first.name)), first)
  })

  test('pages come in code point order, by prefix, without gap or repeat', options, async (t) => {
    const { open } = await place(t)
    const writing = await open()
    // One sees the names come one by one, and one finds all of them.
    await writing.read(() => {})
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
    for (const name of names) await writing.put(alias(name), allow)
    for (const aliases of [writing, await open()]) {
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
      const behind = await aliases.read((reader) => reader.list({ prefix: 'a/', after: 'zzz', limit: 9 }))
      assert.deepEqual(behind, [])
    }
  })

  test('a check sees the state that it guards, and its refusal changes nothing', options, async (t) => {
    const { open } = await place(t)
    const [aliases, beside] = [await open(), await open()]
    await aliases.put(alias('a'), allow)
    for (const refusal of [new TidemarkError('ALIAS_CYCLE', { name: 'a', path: '' }), new Error('any')]) {
      const refuse = () => {
        throw refusal
      }
      await assert.rejects(aliases.put(alias('a', 'other/X'), refuse), refusal)
      await assert.rejects(beside.delete('a', refuse), refusal)
      assert.deepEqual(await aliases.read((reader) => reader.get('a')), alias('a'))
    }
    // Of two that exclude each other, whichever comes second finds the first.
    const refusal = new TidemarkError('ALIAS_CYCLE', { name: 'x', path: '' })
    const unless = (other: string) => (reader: { get(name: string): Alias | null }) => {
      if (reader.get(other) !== null) throw refusal
    }
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.allSettled([
        aliases.put(alias(`x${round}`), unless(`y${round}`)),
        beside.put(alias(`y${round}`), unless(`x${round}`)),
      ])
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    }
  })

  test('changes through many openings at once are all made', options, async (t) => {
    const { open } = await place(t)
    const stores = await Promise.all([open(), open(), open()])
    const names = Array.from({ length: 30 }, (_, i) => `n${String(i).padStart(2, '0')}`)
    await Promise.all(names.map((name, i) => stores[i % 3]!.put(alias(name), allow)))
    for (const store of stores) {
      const found = await store.read((reader) => reader.list({ prefix: 'n', after: null, limit: 100 }))
      assert.deepEqual(
        found.map(({ name }) => name),
        names,
      )
    }
  })
}
