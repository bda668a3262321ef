import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SIGNATURES } from '../calc/functions/index.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { parseTag } from '../grammar/parser.ts'
import { printTag } from '../grammar/print.ts'
import type { TagTree } from '../grammar/tree.ts'
import { instantFromUs } from '../time/instant.ts'
import { UTC } from '../time/zone.ts'
import { AliasExpander, MAX_ALIAS_CHAIN, MAX_CALL_NODES, MAX_TREE_NODES } from './expander.ts'
import { MemoryAliasStore } from './memory-store.fixture.ts'

function parse(address: string): TagTree {
  return parseTag(address, {
    signatures: SIGNATURES,
    defaultHistorian: 'plant',
    now: instantFromUs(0),
    zone: UTC,
  })
}

/** Who sees only some historians names them. */
function expanderOf(aliases: Readonly<Record<string, string>>, seen?: readonly string[]): AliasExpander {
  const sees = seen === undefined ? null : (historian: string) => seen.includes(historian)
  return new AliasExpander({ aliases: new MemoryAliasStore(aliases), parse, sees })
}

function expand(
  address: string,
  aliases: Readonly<Record<string, string>>,
  seen?: readonly string[],
): { readonly tag: string; readonly unresolved: Readonly<Record<string, string>> } {
  const expander = expanderOf(aliases, seen)
  const tag = printTag(expander.expand(parse(address)))
  const unresolved = Array.from(expander.unresolved, ([name, error]) => [name, error.message] as const)
  return { tag, unresolved: Object.fromEntries(unresolved) }
}

describe('aliases are replaced by what they refer to', () => {
  const aliases = {
    flow: 'plant/FLOW',
    total: 'calc/TOTALISE(aliases/flow, DAY, BEGIN_DAY, 1h)',
    'two words (and more)': 'constants/2',
    bare: 'calc/ADD(FLOW, 1)',
    chain: 'aliases/total',
    __proto__: 'plant/never',
    constructor: 'plant/CONSTRUCTOR',
  }
  const cases: readonly (readonly [address: string, tag: string])[] = [
    ['aliases/flow', 'plant/FLOW'],
    ['ALIASES/flow', 'plant/FLOW'],
    ['calc/ADD(aliases/flow, 1)', 'calc/ADD(plant/FLOW, constants/1)'],
    ['aliases/total', 'calc/TOTALISE(plant/FLOW, DAY, BEGIN_DAY, 1h)'],
    ['aliases/chain', 'calc/TOTALISE(plant/FLOW, DAY, BEGIN_DAY, 1h)'],
    [
      "calc/SUB(aliases/flow, 'aliases/two words (and more)', aliases/flow)",
      'calc/SUB(plant/FLOW, constants/2, plant/FLOW)',
    ],
    ['aliases/bare', 'calc/ADD(plant/FLOW, constants/1)'],
    ['aliases/constructor', 'plant/CONSTRUCTOR'],
    ['plant/FLOW', 'plant/FLOW'],
  ]
  for (const [address, tag] of cases) {
    test(address, () => assert.deepEqual(expand(address, aliases), { tag, unresolved: {} }))
  }

  test('a tree without aliases is the same object', () => {
    const tree = parse('calc/ADD(plant/A, constants/1)')
    assert.equal(expanderOf(aliases).expand(tree), tree)
  })

  test('names differ by case', () => {
    assert.deepEqual(expand('aliases/Flow', aliases).unresolved, {
      'aliases/Flow': 'Tag aliases/Flow does not exist',
    })
  })
})

describe('an alias that leads nowhere stays where it is, with the reason', () => {
  test('it does not exist, at any depth', () => {
    assert.deepEqual(expand('calc/ADD(aliases/a, Aliases/none)', { a: 'calc/NEG(aliases/b)' }), {
      tag: 'calc/ADD(NEG(aliases/b), Aliases/none)',
      unresolved: {
        'aliases/b': 'Tag aliases/b does not exist',
        'Aliases/none': 'Tag aliases/none does not exist',
      },
    })
  })

  test('what it refers to does not parse', () => {
    assert.deepEqual(expand('aliases/a', { a: 'calc/ADD(plant/FLOW' }).unresolved, {
      'aliases/a': 'Cannot parse calculation: expected , or ) at column 20 of calc/ADD(plant/FLOW',
    })
  })

  for (const [name, aliases, path] of [
    ['a', { a: 'aliases/a' }, 'aliases/a > aliases/a'],
    ['a', { a: 'aliases/b', b: 'aliases/a' }, 'aliases/a > aliases/b > aliases/a'],
    [
      'b',
      { a: 'calc/ADD(aliases/c, 1)', b: 'calc/NEG(aliases/a)', c: 'calc/SUB(plant/X, aliases/b)' },
      'aliases/b > aliases/a > aliases/c > aliases/b',
    ],
  ] as const) {
    test(`a cycle is named with its path: ${path}`, () => {
      const expander = expanderOf(aliases)
      const error = expander.lookUp(name)
      assert.ok(error instanceof TidemarkError)
      assert.equal(error.code, 'ALIAS_CYCLE')
      assert.equal(error.message, `Alias ${name} would refer to itself: ${path}`)
    })
  }

  test('one that leads into a cycle names the cycle alone', () => {
    const error = expanderOf({ out: 'aliases/a', a: 'aliases/b', b: 'aliases/a' }).lookUp('out')
    assert.ok(error instanceof TidemarkError)
    assert.equal(error.message, 'Alias a would refer to itself: aliases/a > aliases/b > aliases/a')
  })
})

describe('what aliases refer to is bounded', () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`a${i}`, i + 1 === length ? 'plant/X' : `aliases/a${i + 1}`]),
    )

  test('50 aliases one after the other are followed, and no more', () => {
    assert.equal(expand('aliases/a0', chain(MAX_ALIAS_CHAIN)).tag, 'plant/X')
    const expander = expanderOf(chain(MAX_ALIAS_CHAIN + 1))
    const error = expander.lookUp('a0')
    assert.ok(error instanceof TidemarkError && error.code === 'ALIAS_LIMIT')
    assert.equal(error.message, 'Alias a0 leads too far: more than 50 aliases one after the other')
    // The next one leads less far, whatever was asked for before.
    assert.ok(!(expander.lookUp('a1') instanceof TidemarkError))
  })

  test('a chain of a hundred thousand ends no stack', () => {
    assert.ok(expanderOf(chain(100_000)).lookUp('a0') instanceof TidemarkError)
  })

  test('calls inside each other count through aliases', () => {
    const nested = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `n${i}`,
        i === 0 ? 'plant/X' : `calc/NEG(NEG(aliases/n${i - 1}))`,
      ]),
    )
    assert.ok(!(expanderOf(nested).lookUp('n25') instanceof TidemarkError))
    const error = expanderOf(nested).lookUp('n26')
    assert.ok(error instanceof TidemarkError && error.code === 'ALIAS_LIMIT')
    assert.match(error.message, /more than 50 calls inside each other/)
    // 50 calls lead there, and one more stands around.
    assert.deepEqual(expand('calc/NEG(aliases/n25)', nested), {
      tag: 'calc/NEG(aliases/n25)',
      unresolved: { 'aliases/n25': 'Alias n25 leads too far: more than 50 calls inside each other' },
    })
  })

  test('aliases that double each other do not grow without bound', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        i === 0 ? 'plant/X' : `calc/ADD(aliases/d${i - 1}, aliases/d${i - 1})`,
      ]),
    )
    const error = expanderOf(doubling).lookUp('d39')
    assert.ok(error instanceof TidemarkError && error.code === 'ALIAS_LIMIT')
    assert.match(error.message, new RegExp(`more than ${MAX_TREE_NODES} tags`))
    assert.ok(!(expanderOf(doubling).lookUp('d10') instanceof TidemarkError))
  })

  /** Aliases of so many tags and arguments, and how many of them were parsed. */
  function many(count: number, numbers: number) {
    const large = `calc/ADD(${Array(numbers).fill('1').join(',')})`
    const names = Array.from({ length: count }, (_, i) => `a${i}`)
    const all = `calc/ADD(${names.map((name) => `aliases/${name}`).join(',')})`
    const aliases: Record<string, string> = { all, top: 'aliases/all' }
    for (const [i, name] of names.entries()) {
      aliases[name] = large
      aliases[`three${i}`] = `calc/ADD(aliases/a${i}, aliases/a${i + 1}, aliases/a${i + 2})`
    }
    let parses = 0
    const expander = new AliasExpander({
      aliases: new MemoryAliasStore(aliases),
      parse: (address) => {
        parses++
        return parse(address)
      },
      sees: null,
    })
    return { expander, all, parses: () => parses }
  }

  test('an alias that leads too far reads no more aliases than lead there', () => {
    const { expander, parses } = many(500, 2000)
    const error = expander.lookUp('top')
    assert.ok(error instanceof TidemarkError && error.code === 'ALIAS_LIMIT')
    assert.equal(error.message, `Alias top leads too far: more than ${MAX_TREE_NODES} tags and arguments`)
    assert.ok(parses() <= 6, `${parses()} parses`)
  })

  test('a request that leads too far reads no more aliases than lead there', () => {
    const { expander, all, parses } = many(500, 2000)
    expander.expand(parse(all))
    assert.equal(expander.unresolved.size, 500)
    assert.match(expander.unresolved.get('aliases/a499')!.message, new RegExp(`more than ${MAX_TREE_NODES}`))
    assert.ok(parses() <= 4, `${parses()} parses`)
  })

  test('what was read of aliases that lead too far counts for the request, too', () => {
    const { expander, parses } = many(300, 2000)
    for (let i = 0; i < 300; i += 3) expander.expand(parse(`aliases/three${i}`))
    assert.match(expander.unresolved.get('aliases/three0')!.message, /leads too far: more than 10000 tags/)
    assert.match(expander.unresolved.get('aliases/three297')!.message, /in one request/)
    assert.ok(parses() < 80, `${parses()} parses`)
  })

  test('many requests for a large alias end at a bound of their own', () => {
    const large = { large: `calc/ADD(${Array(2000).fill('1').join(',')})` }
    const expander = expanderOf(large)
    const fitting = Math.floor(MAX_CALL_NODES / 4001)
    for (let i = 0; i < fitting; i++) expander.expand(parse('aliases/large'))
    assert.equal(expander.unresolved.size, 0)
    expander.expand(parse('aliases/large'))
    assert.match(expander.unresolved.get('aliases/large')!.message, /in one request/)
  })
})

describe('a caller who sees some historians', () => {
  const aliases = {
    open: 'plant/FLOW',
    hidden: 'secret/FLOW',
    through: 'aliases/hidden',
    inside: 'calc/ADD(plant/FLOW, secret/FLOW)',
    nested: 'calc/ADD(plant/FLOW, aliases/inside)',
    guarded: 'calc/IFTAGEXISTS(secret/FLOW, plant/FLOW)',
    broken: 'calc/ADD(secret/FLOW',
    dangling: 'aliases/none',
    cycle: 'aliases/cycle',
    virtual: 'calc/ADD(siggen/sin1@60, constants/2, dates/DAY)',
  }
  for (const name of ['open', 'virtual']) {
    test(`sees ${name}`, () =>
      assert.ok(!(expanderOf(aliases, ['plant']).lookUp(name) instanceof TidemarkError)))
  }
  for (const name of [
    'hidden',
    'through',
    'inside',
    'nested',
    'guarded',
    'broken',
    'dangling',
    'cycle',
    'none',
  ]) {
    test(`is answered that ${name} does not exist`, () => {
      if (name === 'guarded' && !SIGNATURES.has('IFTAGEXISTS')) return
      const { tag, unresolved } = expand(`calc/NEG(aliases/${name})`, aliases, ['plant'])
      assert.equal(tag, `calc/NEG(aliases/${name})`)
      assert.equal(unresolved[`aliases/${name}`], `Tag aliases/${name} does not exist`)
    })
  }

  test('learns nothing from what another alias ran into', () => {
    const expander = expanderOf({ a: 'calc/ADD(aliases/b, 1)', b: 'calc/ADD(secret/FLOW' }, ['plant'])
    for (const address of ['aliases/b', 'aliases/a']) expander.expand(parse(address))
    assert.equal(expander.unresolved.get('aliases/b')?.code, 'TAG_NOT_FOUND')
  })
})
