import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MAX_CALCULATION_LENGTH, parseTag } from './parser.ts'
import { printTag } from './print.ts'
import { OPTIONS, WITH_DEFAULT } from './signatures.fixture.ts'
import type { CallNode, TagTree } from './tree.ts'

/** Checks what an address is read as, by its canonical text, and that that text is read as the same. */
function reads(text: string, canonical: string, options = OPTIONS) {
  test(`${text} reads as ${canonical}`, () => {
    assert.equal(printTag(parseTag(text, options)), canonical)
    assert.equal(printTag(parseTag(canonical, OPTIONS)), canonical)
  })
}

/** Checks the tag that the only argument of a call is. */
function readsTag(argument: string, historian: string, name: string, options = OPTIONS) {
  test(`${argument} inside a call is tag ${name} of ${historian}`, () => {
    const { args } = parseTag(`calc/NEG(${argument})`, options) as CallNode
    assert.deepEqual(args, [
      { kind: 'series', tree: { kind: 'tag', historian, name, column: 10 }, column: 10 },
    ])
  })
}

describe('an address that does not begin with calc/ is taken as it is', () => {
  reads('local/FLOW', 'local/FLOW')
  reads('local/ADD(1, 2', 'local/ADD(1, 2')
  reads("local/'x' ", "local/'x' ")
  reads('local/calc/ADD(1)', 'local/calc/ADD(1)')
  reads('calc.1/x', 'calc.1/x')
  reads('constants/5', 'constants/5')
})

describe('calls', () => {
  reads('calc/ADD(local/a, local/b)', 'calc/ADD(local/a, local/b)')
  reads('Calc/add(local/a,local/b)', 'calc/ADD(local/a, local/b)')
  reads('CALC/ADD(local/a)', 'calc/ADD(local/a)')
  reads('calc/ \t ADD (\n local/a ,\r\n local/b )  ', 'calc/ADD(local/a, local/b)')
  reads('calc/\u00a0ADD(\u00a0local/a\u00a0)', 'calc/ADD(local/a)')
  reads('calc/ADD(calc/SUB(local/a, 1), 2)', 'calc/ADD(SUB(local/a, constants/1), constants/2)')
  reads('calc/ADD(CALC/ sub (local/a, 1),neg(2))', 'calc/ADD(SUB(local/a, constants/1), NEG(constants/2))')
  reads('calc/NOW_MS()', 'calc/NOW_MS()')
  reads('calc/NOW_MS( )', 'calc/NOW_MS()')
  reads('calc/avg(1)', 'calc/MEAN(constants/1)')
  reads('calc/SUB(1)', 'calc/SUB(constants/1)')
  reads('calc/SUB(1,2,3,4)', 'calc/SUB(constants/1, constants/2, constants/3, constants/4)')
  reads('calc/NEG(constants/5)', 'calc/NEG(constants/5)')
  reads('calc/NEG(value/5)', 'calc/NEG(value/5)')
})

describe('tags', () => {
  readsTag('local/FLOW', 'local', 'FLOW')
  readsTag('local/a b  c', 'local', 'a b  c')
  readsTag('local/a/b', 'local', 'a/b')
  readsTag('local/TEMP (deg)', 'local', 'TEMP (deg)')
  readsTag('local/F(x)', 'local', 'F(x)')
  readsTag('local/F(x, (y), z) w', 'local', 'F(x, (y), z) w')
  readsTag('local/ADD(1)', 'local', 'ADD(1)')
  readsTag('local/F()', 'local', 'F()')
  readsTag('local/ADD (1)', 'local', 'ADD (1)')
  readsTag('calcs/x', 'calcs', 'x')
  readsTag('local/5', 'local', '5')
  readsTag('local/[1] {2} <3> ;:|&%$#@!', 'local', '[1] {2} <3> ;:|&%$#@!')
  readsTag('local/a\\b', 'local', 'a\\b')
  readsTag('local/\u{1F600} °C', 'local', '\u{1F600} °C')
})

describe('quoted tags', () => {
  readsTag("'local/a, b'", 'local', 'a, b')
  readsTag('"local/a, b"', 'local', 'a, b')
  readsTag("'local/a)'", 'local', 'a)')
  readsTag("'local/a(b'", 'local', 'a(b')
  readsTag("'local/ a '", 'local', ' a ')
  readsTag("'local/it\\'s'", 'local', "it's")
  readsTag('"local/it\'s"', 'local', "it's")
  readsTag('"local/5\\" pipe"', 'local', '5" pipe')
  readsTag("'local/5\" pipe'", 'local', '5" pipe')
  readsTag("'local/5\\\" pipe'", 'local', '5" pipe')
  readsTag("'local/C:\\\\a\\b, c'", 'local', 'C:\\\\a\\b, c')
  readsTag("'local/a, b\\\\'", 'local', 'a, b\\')
  readsTag("'local/a\\\\\\'b'", 'local', "a\\'b")
  readsTag("'5'", 'local', '5', WITH_DEFAULT)
  readsTag("'a, b'", 'local', 'a, b', WITH_DEFAULT)
  readsTag("'ADD(1)'", 'local', 'ADD(1)', WITH_DEFAULT)
})

describe('bare names are tags of the default historian', () => {
  readsTag('FLOW', 'local', 'FLOW', WITH_DEFAULT)
  readsTag('FLOW 2', 'local', 'FLOW 2', WITH_DEFAULT)
  readsTag('TEMP (deg)', 'local', 'TEMP (deg)', WITH_DEFAULT)
  readsTag('FLOW-1(x)', 'local', 'FLOW-1(x)', WITH_DEFAULT)
  readsTag('20%', 'local', '20%', WITH_DEFAULT)
  readsTag('ADD', 'local', 'ADD', WITH_DEFAULT)
  readsTag('Infinity', 'local', 'Infinity', WITH_DEFAULT)
  readsTag('__proto__', 'local', '__proto__', WITH_DEFAULT)
  reads('calc/ADD(FLOW, other/FLOW)', 'calc/ADD(local/FLOW, other/FLOW)', WITH_DEFAULT)
})

describe('bare numbers are constants', () => {
  for (const text of ['5', '-2', '+3', '0.5', '.5', '5.', '1e3', '1E-3', '-0', '007']) {
    readsTag(text, 'constants', text, WITH_DEFAULT)
  }
})

describe('arguments that are no series', () => {
  reads('calc/ROUND(local/a, -2)', 'calc/ROUND(local/a, -2)')
  reads('calc/IFEQUALS(1, 2, 3, 4)', 'calc/IFEQUALS(constants/1, constants/2, constants/3, constants/4)')
  reads(
    'calc/ifequals(1, 2, 3, 4, 20% )',
    'calc/IFEQUALS(constants/1, constants/2, constants/3, constants/4, 20%)',
  )
  reads('calc/TOTALISE2(a/b,1d,00:00:00,1h)', 'calc/TOTALISE(a/b, 1d, 00:00:00, 1h)')
  reads('calc/TOTALISE(a/b, quarter, begin_quarter, P1D)', 'calc/TOTALISE(a/b, quarter, begin_quarter, P1D)')
  reads(
    'calc/TOTALISE(a/b, DAY, 2024-04-01 00:00:00 CEST, 1h)',
    'calc/TOTALISE(a/b, DAY, 2024-04-01 00:00:00 CEST, 1h)',
  )
  reads(
    'calc/TOTALISE(a/b, DAY, "2024-04-01T00:00:00Z", 1h)',
    'calc/TOTALISE(a/b, DAY, 2024-04-01T00:00:00Z, 1h)',
  )
  reads('calc/TOTALISE(a/b, 8h, 06:00 local, 1h)', 'calc/TOTALISE(a/b, 8h, 06:00 local, 1h)')
  reads('calc/TIMESHIFT(a/b, -1h)', 'calc/TIMESHIFT(a/b, -1h)')
  reads('calc/TIMESHIFT(a/b, -01:30)', 'calc/TIMESHIFT(a/b, -01:30)')
  reads('calc/TIMESHIFT(a/b, last moment of yesterday)', 'calc/TIMESHIFT(a/b, last moment of yesterday)')
  reads("calc/TIMESHIFT(a/b, '2 hours, 5 minutes ago')", "calc/TIMESHIFT(a/b, '2 hours, 5 minutes ago')")
  reads(
    'calc/TIME_THRESHOLD(2024-01-31T12:00:00Z, 1, 2)',
    'calc/TIME_THRESHOLD(2024-01-31T12:00:00Z, constants/1, constants/2)',
  )
  reads(
    "calc/TIME_THRESHOLD('2024-01-31T12:00:00,5Z', 1, 2)",
    "calc/TIME_THRESHOLD('2024-01-31T12:00:00,5Z', constants/1, constants/2)",
  )
  reads(
    "calc/TIME_THRESHOLD(' yesterday ', 1, 2)",
    'calc/TIME_THRESHOLD(yesterday, constants/1, constants/2)',
  )
  reads('calc/SLIDINGAGG(a/b, avg, 1h)', 'calc/SLIDINGAGG(a/b, AVG, 1h)')
  reads(
    "calc/WINDOWAGG(a/b, total, 1w, 1h, 'sunday 06:00')",
    'calc/WINDOWAGG(a/b, TOTAL, 1w, 1h, sunday 06:00)',
  )
  reads('calc/WINDOWAGG(a/b, sum, 1d, 06:00)', 'calc/WINDOWAGG(a/b, SUM, 1d, 06:00)')
  reads('calc/WINDOWAGG(a/b, total, 1d, 1h)', 'calc/WINDOWAGG(a/b, TOTAL, 1d, 1h)')

  test('numbers keep whether they are percentages', () => {
    const last = (text: string) => (parseTag(text, OPTIONS) as CallNode).args.at(-1)
    assert.deepEqual(last('calc/IFEQUALS(1,2,3,4,20%)'), {
      kind: 'number',
      value: 20,
      percent: true,
      text: '20%',
      column: 23,
    })
    assert.deepEqual(last('calc/IFEQUALS(1,2,3,4,.5)'), {
      kind: 'number',
      value: 0.5,
      percent: false,
      text: '.5',
      column: 23,
    })
  })
})

describe('an argument that may fail', () => {
  function broken(argument: string) {
    test(`${argument} is broken`, () => {
      const text = `calc/IFTAGEXISTS( ${argument} , local/b)`
      const tree = parseTag(text, OPTIONS) as CallNode
      assert.deepEqual(tree.args[0], { kind: 'broken', text: argument, column: 19 })
      assert.equal(printTag(tree), `calc/IFTAGEXISTS(${argument}, local/b)`)
      assert.deepEqual(parseTag(printTag(tree), OPTIONS).kind, 'call')
    })
  }
  broken('NOSUCH(local/a, 1)')
  broken('calc/NOSUCH')
  broken('ADD(1, NOSUCH(2), 3)')
  broken("ADD('local/a, (', NOSUCH(2))")
  broken('NEG(1, 2)')
  broken('bad name/x')
  broken('FLOW')
  reads('calc/IFTAGEXISTS(local/a, 0)', 'calc/IFTAGEXISTS(local/a, constants/0)')
  reads('calc/IFTAGEXISTS(NEG(local/a), 0)', 'calc/IFTAGEXISTS(NEG(local/a), constants/0)')
})

test('columns count from 1 in the whole address, calc/ included', () => {
  const tree = parseTag('calc/ADD( a/b, calc/NEG("c/d"),5)', OPTIONS)
  const columns: [string, number][] = []
  const visit = (node: TagTree) => {
    columns.push([node.name, node.column])
    if (node.kind === 'call') for (const arg of node.args) if (arg.kind === 'series') visit(arg.tree)
  }
  visit(tree)
  assert.deepEqual(columns, [
    ['ADD', 6],
    ['b', 11],
    ['NEG', 21],
    ['d', 25],
    ['5', 32],
  ])
})

test('50 calls inside each other and 10,000 characters are read', () => {
  const nested = `calc/${'NEG('.repeat(50)}a/b${')'.repeat(50)}`
  assert.equal(printTag(parseTag(nested, OPTIONS)), nested)
  const longest = `calc/ADD(${'1,'.repeat(4_994)}11)`.padEnd(MAX_CALCULATION_LENGTH)
  assert.equal(longest.length, 10_000)
  assert.equal((parseTag(longest, OPTIONS) as CallNode).args.length, 4_995)
})
