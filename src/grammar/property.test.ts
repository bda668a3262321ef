import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { formatAddress, isTagName, parseAddress } from './address.ts'
import { MAX_CALCULATION_LENGTH, type ParseOptions, parseTag } from './parser.ts'
import { printTag } from './print.ts'
import { OPTIONS, SIGNATURES, WITH_DEFAULT } from './signatures.fixture.ts'
import type { Argument, Parameter, TagTree } from './tree.ts'

const historian = fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/).filter((name) => name.toLowerCase() !== 'calc')

/** Names with what the grammar cares about in them. */
const tagName = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'ab/\\\'"(), .;%-5\u00a0'), minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(isTagName),
)

const LITERALS: Record<Exclude<Parameter['kind'], 'series' | 'word'>, readonly string[]> = {
  number: ['5', '-2', '+0.5', '.5', '1e3', '007'],
  duration: ['1s', '1.5h', '1d', 'P1DT6H', "'PT1,5H'", '250'],
  anchor: ['BEGIN_DAY', 'begin_year', '06:00', '-01:30:00 local', '0', '-1h', "'2024-04-01T00:00:00,5Z'"],
  window: ['DAY', 'quarter', '8h', 'P1M'],
  'window-anchor': ['06:00', 'Sunday 06:00', '15 6:30:15', "'10-01 06:00'"],
  offset: ['-1h', '-01:30', '06:00', 'last moment of yesterday', "'2 hours, 5 minutes ago'"],
  time: ['2024-01-31T12:00:00Z', 'yesterday', 'now-1d/d', "'2 hours, 5 minutes ago'", '1700000000'],
}

const BROKEN = ['NOSUCH(a/b, 1)', "NEG('a/b, (', 2)", 'calc/5', 'no name/x']

/** What a series is, beside what it prints as: built from the same random choices, never by the parser. */
interface Expected {
  readonly text: string
  readonly shape: unknown
}

const { series } = fc.letrec<{ series: Expected; call: Expected }>((tie) => ({
  series: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tagText(), tie('call')),
  call: fc.constantFrom(...new Set(SIGNATURES.values())).chain(({ name, parameters }) =>
    fc
      .tuple(
        ...parameters.map((parameter) =>
          fc.array(argument(parameter, tie('series')), {
            minLength: parameter.optional ? 0 : 1,
            maxLength: parameter.repeat ? 3 : 1,
          }),
        ),
      )
      .chain((lists) => {
        const words = lists.flat().map(({ shape }) => (shape as { word?: string }).word)
        const args = lists.flatMap((list, i) => {
          const { onlyWith } = parameters[i]!
          return onlyWith === undefined || words.includes(onlyWith) ? list : []
        })
        const rate = args.at(-1)?.text
        fc.pre(name !== 'TOTALISE' || rate !== '1mo')
        return spaced([
          ...anyCase(name),
          '(',
          ...args.flatMap((arg, i) => (i === 0 ? [arg.text] : [',', arg.text])),
          ')',
        ]).map((text) => ({ text, shape: { call: name, args: args.map((arg) => arg.shape) } }))
      }),
  ),
}))

function tagText(): fc.Arbitrary<Expected> {
  const quoted = fc
    .tuple(historian, tagName, fc.constantFrom("'", '"'))
    .map(([h, t, mark]) => ({ text: quotedByHand(formatAddress(h, t), mark), shape: { tag: [h, t] } }))
  const plain = fc
    .tuple(
      historian,
      tagName.map((name) => name.replace(/[,()'"]/g, '_').trim() || 'x'),
    )
    .map(([h, t]) => ({ text: `${h}/${t}`, shape: { tag: [h, t] } }))
  const number = fc
    .constantFrom('5', '-2', '.5', '1e3')
    .map((text) => ({ text, shape: { tag: ['constants', text] } }))
  return fc.oneof(quoted, plain, number)
}

/** Written apart from the code under test: character by character, doubling backslashes that come before a quote. */
function quotedByHand(text: string, mark: string): string {
  let out = ''
  for (let i = 0; i < text.length; i++) {
    let run = i
    while (text[run] === '\\') run++
    const beforeQuote = run === text.length || text[run] === "'" || text[run] === '"'
    if (text[i] === '\\') out += beforeQuote ? '\\\\' : '\\'
    else if (text[i] === "'" || text[i] === '"') out += `\\${text[i]}`
    else out += text[i]
  }
  return mark + out + mark
}

function argument(parameter: Parameter, inner: fc.Arbitrary<Expected>): fc.Arbitrary<Expected> {
  if (parameter.kind === 'series') {
    if (parameter.mayFail !== true) return inner
    return fc.oneof(
      inner,
      fc.constantFrom(...BROKEN).map((text) => ({ text, shape: { broken: text } })),
    )
  }
  if (parameter.kind === 'word') {
    return fc.constantFrom(...parameter.words!).map((word) => ({ text: word.toLowerCase(), shape: { word } }))
  }
  const { kind } = parameter
  return fc
    .constantFrom(...LITERALS[kind])
    .map((text) => ({ text, shape: { [kind]: text.replace(/^'|'$/g, '') } }))
}

function anyCase(name: string): [string] {
  return [name.length % 2 === 0 ? name.toLowerCase() : name]
}

/** Joins parts with random white space between. */
function spaced(parts: readonly string[]): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom('', '', '', ' ', '\t', ' \n '), {
      minLength: parts.length,
      maxLength: parts.length,
    })
    .map((spaces) =>
      parts
        .map((part, i) => part + spaces[i])
        .join('')
        .trim(),
    )
}

function shapeOf(tree: TagTree): unknown {
  if (tree.kind === 'tag') return { tag: [tree.historian, tree.name] }
  return { call: tree.name, args: tree.args.map(shapeOfArgument) }
}

function shapeOfArgument(arg: Argument): unknown {
  if (arg.kind === 'series') return shapeOf(arg.tree)
  if (arg.kind === 'word') return { word: arg.word }
  return { [arg.kind]: arg.text }
}

/** Everything of a tree but its columns. */
function withoutColumns(tree: TagTree): string {
  return JSON.stringify(tree, (key, value) => (key === 'column' ? undefined : value))
}

/** Parses what may be wrong; the error, if any, must be one for the client, with its column in the text. */
function parseOrError(text: string, options: ParseOptions): TagTree | null {
  try {
    return parseTag(text, options)
  } catch (error) {
    assert.ok(error instanceof TidemarkError, String(error))
    if (error.code === 'INVALID_TAG_ADDRESS') return null
    assert.equal(error.code, 'CALCULATION_SYNTAX')
    const column = error.place.column!
    assert.ok(column >= 1 && column <= text.length + 1, `${column} of ${text}`)
    assert.ok(error.message.includes(` at column ${column} of `))
    assert.ok(error.message.length < 3_000)
    return null
  }
}

describe('random calculations', () => {
  test('are read as what they were made of, and so is their canonical text', () => {
    fc.assert(
      fc.property(series, ({ text, shape }) => {
        const address = `calc/ADD(${text})`
        fc.pre(address.length <= MAX_CALCULATION_LENGTH)
        const tree = parseTag(address, OPTIONS)
        assert.deepEqual(shapeOf(tree), { call: 'ADD', args: [shape] })
        const printed = printTag(tree)
        const again = parseTag(printed, OPTIONS)
        assert.equal(withoutColumns(again), withoutColumns(tree))
        assert.equal(printTag(again), printed)
      }),
      { numRuns: 2_000 },
    )
  })

  test('any address can be quoted', () => {
    fc.assert(
      fc.property(historian, tagName, (h, t) => {
        const tree = { kind: 'tag', historian: h, name: t, column: 1 } as const
        const call: TagTree = {
          kind: 'call',
          name: 'NEG',
          args: [{ kind: 'series', tree, column: 1 }],
          column: 1,
        }
        assert.equal(withoutColumns(parseTag(printTag(call), OPTIONS)), withoutColumns(call))
        assert.equal(withoutColumns(parseTag(printTag(tree), OPTIONS)), withoutColumns(tree))
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('arbitrary texts', () => {
  const VALID = [
    'calc/ADD(local/a, calc/SUB(local/b, 5), "c/d, e")',
    "calc/TOTALISE2('a/b\\'c', MONTH, BEGIN_YEAR, 1d)",
    'calc/IFTAGEXISTS(ROUND(a/b (c), -2), IFEQUALS(1, 2, 3, 4, 20%))',
    "calc/TIME_THRESHOLD('2 hours, 5 minutes ago', TIMESHIFT(a/b, -01:30), SLIDINGAGG(x/y, AVG, PT1H))",
  ]
  const pieces = [
    ...'(),\'"\\/ %-5aZ.;\n\0é\u{1F600}\ud800',
    'calc/',
    'ADD(',
    'NEG(',
    '))',
    '1d',
    'a/b',
    'now',
    "\\'",
  ]

  const mutated = fc
    .tuple(
      fc.constantFrom(...VALID),
      fc.array(fc.tuple(fc.nat(100), fc.nat(3), fc.constantFrom('', ...pieces)), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([text, edits]) =>
      edits.reduce(
        (edited, [at, dropped, added]) => edited.slice(0, at) + added + edited.slice(at + dropped),
        text,
      ),
    )
  const assembled = fc
    .array(fc.constantFrom(...pieces), { maxLength: 30 })
    .map((parts) => `calc/${parts.join('')}`)
  const random = fc.string({ unit: 'binary', maxLength: 60 })
  const anything = fc.oneof(
    mutated,
    assembled,
    random,
    random.map((text) => `calc/ADD(${text})`),
  )

  test('parse, or fail with a column that lies in the text', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), (text, hasDefault) => {
        const tree = parseOrError(text, hasDefault ? WITH_DEFAULT : OPTIONS)
        if (tree === null) return
        assert.equal(withoutColumns(parseTag(printTag(tree), OPTIONS)), withoutColumns(tree))
      }),
      { numRuns: 20_000 },
    )
  })

  test('split into an address that joins again, or into none', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          random,
          fc.tuple(historian, random).map((parts) => parts.join('/')),
        ),
        (text) => {
          const address = parseAddress(text)
          if (address !== null) assert.equal(formatAddress(address.historian, address.tag), text)
        },
      ),
      { numRuns: 5_000 },
    )
  })
})

test('texts made to be slow to read are read or refused', () => {
  const fill = (unit: string) => unit.repeat(Math.ceil(9_000 / unit.length)).slice(0, 9_000)
  const units = [
    '(',
    ')',
    ',',
    ' ',
    '\\',
    "\\\\'",
    "'",
    '"',
    '1',
    '1.',
    '-',
    'a',
    'a ',
    'a(',
    'ADD(',
    'calc/',
  ]
  const more = [
    'ADD (',
    'IFTAGEXISTS(',
    'IFTAGEXISTS(X(',
    'SUB(1,',
    "'a/b',",
    '1,',
    'a/b(',
    'P1',
    '1h ',
    '00:',
    'e',
  ]
  for (const unit of [...units, ...more]) {
    for (const start of [
      'calc/',
      'calc/ADD(',
      "calc/ADD('",
      'calc/TOTALISE(a/b, 1d, ',
      'calc/TIMESHIFT(a/b, ',
    ]) {
      for (const end of ['', ')', "')"]) {
        for (const options of [OPTIONS, WITH_DEFAULT]) parseOrError(start + fill(unit) + end, options)
      }
    }
  }
})
