import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { parseTag } from './parser.ts'
import { OPTIONS, WITH_DEFAULT } from './signatures.fixture.ts'

/** Checks what is said of a calculation that does not parse, and where. */
function fails(text: string, column: number, reason: string, options = OPTIONS) {
  test(`${text}: ${reason}`, () => {
    const error = failure(text, options)
    assert.equal(error.message, `Cannot parse calculation: ${reason} at column ${column} of ${text}`)
    assert.equal(error.code, 'CALCULATION_SYNTAX')
    assert.deepEqual(error.place, { column, input: text })
  })
}

function failure(text: string, options = OPTIONS): TidemarkError {
  try {
    parseTag(text, options)
  } catch (error) {
    if (error instanceof TidemarkError) return error
    throw error
  }
  assert.fail(`${text} parses`)
}

test('the sentence of the interface, letter by letter', () => {
  assert.equal(
    failure('calc/ADD(a/b c').message,
    'Cannot parse calculation: expected , or ) at column 15 of calc/ADD(a/b c',
  )
})

describe('a calculation that is not finished, or goes on', () => {
  fails('calc/ADD(a/b c', 15, 'expected , or )')
  fails('calc/ADD(a/b c, d/e', 20, 'expected , or )')
  fails('calc/ADD(a/b, NEG(c/d)', 23, 'expected , or )')
  fails("calc/ADD('a/b' c/d)", 16, 'expected , or )')
  fails('calc/ADD(NEG(a/b) + 1)', 19, 'expected , or )')
  fails('calc/ADD(a/b (c, 5)', 20, 'expected , or )')
  fails("calc/ADD('a/b, 5)", 18, "expected ' at the end of the quoted text")
  fails(`calc/ADD("a/b', 5)`, 19, 'expected " at the end of the quoted text')
  fails("calc/ADD('a/b\\', 5)", 20, "expected ' at the end of the quoted text")
  fails(
    "calc/ADD(a/b's, 5)",
    13,
    "expected quotes around the whole text, and a \\ before a quote inside, found '",
  )
  fails(
    "calc/ADD(a/'b, c', 5)",
    12,
    "expected quotes around the whole text, and a \\ before a quote inside, found '",
  )
  fails(
    'calc/ADD(a/b "c", 5)',
    14,
    'expected quotes around the whole text, and a \\ before a quote inside, found "',
  )
  fails('calc/ADD(1))', 12, 'expected the end of the calculation, found )')
  fails('calc/ADD(1) * 2', 13, 'expected the end of the calculation, found * 2')
  fails('calc/ADD(1), NEG(2)', 12, 'expected the end of the calculation, found ,')
  fails("calc/IFTAGEXISTS('a/b' c, 1)", 24, 'expected , or )')
})

describe('a function that is missing or unknown', () => {
  fails('calc/', 6, 'expected a function such as ADD(...), found the end')
  fails('calc/  ', 8, 'expected a function such as ADD(...), found the end')
  fails('calc/5', 6, 'expected a function such as ADD(...), found 5')
  fails('calc/local/FLOW', 6, 'expected a function such as ADD(...), found local/FLOW')
  fails('calc/ADD', 9, 'expected ( after ADD')
  fails('calc/add  ', 11, 'expected ( after ADD')
  fails('calc/ADD local/a', 10, 'expected ( after ADD')
  fails('calc/ADD, 1', 9, 'expected ( after ADD')
  fails('calc/(1, 2)', 6, 'expected a function such as ADD(...), found (')
  fails('calc/calc/ADD(1)', 6, 'expected a function such as ADD(...), found calc/ADD')
  fails('calc/ADD(calc/local/a)', 15, 'expected a function such as ADD(...), found local/a')
  fails('calc/ADD(calc/, 1)', 15, 'expected a function such as ADD(...), found ,')
  fails('calc/ADDD(1, 2)', 6, 'expected a function, found ADDD (did you mean ADD?)')
  fails(
    'calc/Totalize(local/a, 1d, 06:00, 1h)',
    6,
    'expected a function, found Totalize (did you mean TOTALISE?)',
  )
  fails('calc/ADD(NGE(local/a), 1)', 10, 'expected a function, found NGE (did you mean NEG?)')
  fails('calc/ÄDD(1)', 6, 'expected a function such as ADD(...), found ÄDD')
  fails('calc/constructor(1)', 6, 'expected a function, found constructor (did you mean SUB?)')
  fails('calc/__proto__(1)', 6, 'expected a function, found __proto__ (did you mean ROUND?)')
  fails('calc/IFTAGEXISTS(NOSUCH(1, 2)', 18, 'expected a function, found NOSUCH (did you mean SUB?)')
  fails('calc/IFTAGEXISTS(NOSUCH(1), NOSUCH(2))', 29, 'expected a function, found NOSUCH (did you mean SUB?)')
})

describe('an argument that is missing', () => {
  fails('calc/ADD(', 10, 'expected a tag, a number or a calculation for input of ADD, found the end')
  fails('calc/ADD(1,', 12, 'expected a tag, a number or a calculation for input of ADD, found the end')
  fails('calc/ADD(1,)', 12, 'expected a tag, a number or a calculation for input of ADD, found )')
  fails('calc/ADD(,1)', 10, 'expected a tag, a number or a calculation for input of ADD, found ,')
  fails('calc/ADD(1,,2)', 12, 'expected a tag, a number or a calculation for input of ADD, found ,')
  fails(
    'calc/TIME_THRESHOLD(, 1, 2)',
    21,
    'expected a time such as 2024-04-01T00:00:00Z or yesterday for time of TIME_THRESHOLD, found ,',
  )
  fails(
    'calc/IFTAGEXISTS(, 1)',
    18,
    'expected a tag, a number or a calculation for a of IFTAGEXISTS, found ,',
  )
})

describe('a wrong number of arguments', () => {
  fails('calc/ADD()', 10, 'expected at least 1 argument for ADD(input, ...), found 0')
  fails('calc/NEG()', 10, 'expected 1 argument for NEG(x), found 0')
  fails('calc/NEG(1, 2)', 13, 'expected 1 argument for NEG(x), found 2')
  fails("calc/NEG(1, 2, 'a, b', F(3, 4))", 13, 'expected 1 argument for NEG(x), found 4')
  fails('calc/NOW_MS(1)', 13, 'expected 0 arguments for NOW_MS(), found 1')
  fails(
    'calc/TOTALISE(local/a, 1d)',
    26,
    'expected 4 arguments for TOTALISE(a, window, anchor, rate), found 2',
  )
  fails(
    'calc/TOTALISE(local/a;1d;06:00;1h)',
    34,
    'expected 4 arguments for TOTALISE(a, window, anchor, rate), found 1 (arguments are parted by , and not by ;)',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 06:00, 1h, 5)',
    39,
    'expected 4 arguments for TOTALISE(a, window, anchor, rate), found 5 (a time that holds a comma needs quotes)',
  )
  fails('calc/ROUND(local/a)', 19, 'expected 2 arguments for ROUND(x, decimals), found 1')
  fails(
    'calc/IFEQUALS(1, 2, 3)',
    22,
    'expected 4 or 5 arguments for IFEQUALS(a, b, t, f[, precision]), found 3',
  )
  fails(
    'calc/IFEQUALS(1, 2, 3, 4, 5, 6)',
    30,
    'expected 4 or 5 arguments for IFEQUALS(a, b, t, f[, precision]), found 6',
  )
  fails(
    'calc/TIMESHIFT(local/a, 2 hours, 5 minutes ago)',
    34,
    'expected 2 arguments for TIMESHIFT(a, offset), found 3 (a time that holds a comma needs quotes)',
  )
})

describe('something that is no tag', () => {
  fails(
    'calc/ADD(1 2)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found 1 2 (no default historian is configured)',
  )
  fails(
    "calc/ADD('calc/NEG(1)', 1)",
    10,
    "expected a tag in the quotes, found the quoted text 'calc/NEG(1)' (leave the quotes out of a calculation)",
  )
  fails(
    'calc/ADD(FLOW, 1)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found FLOW (no default historian is configured)',
  )
  fails(
    'calc/ADD(1d, 1)',
    10,
    'expected a tag, a number or a calculation for input of ADD, found the duration 1d',
  )
  fails(
    'calc/ADD(20%, 1)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found 20% (no default historian is configured)',
  )
  fails(
    "calc/ADD('5', 1)",
    10,
    "expected a tag as <historian_name>/<tag_name>, found the quoted text '5' (no default historian is configured)",
  )
  fails(
    "calc/ADD('', 1)",
    10,
    "expected a tag as <historian_name>/<tag_name>, found the quoted text '' (no default historian is configured)",
  )
  fails(
    'calc/ADD(/FLOW, 1)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found /FLOW (no historian has such a name)',
  )
  fails(
    'calc/ADD(local/, 1)',
    10,
    'expected a tag name of 1 to 512 characters, none of them a control character, found local/',
  )
  fails(
    'calc/ADD(my plant/FLOW, 1)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found my plant/FLOW (no historian has such a name)',
  )
  fails(
    "calc/ADD(' local/FLOW', 1)",
    10,
    "expected a tag as <historian_name>/<tag_name>, found the quoted text ' local/FLOW' (no historian has such a name)",
  )
  fails(
    'calc/ADD((local/a), 1)',
    10,
    'expected a tag as <historian_name>/<tag_name>, found (local/a) (no historian has such a name)',
  )
  fails(
    'calc/ADD(1e999, 1)',
    10,
    'expected a tag, a number or a calculation for input of ADD, found a number that is too large',
  )
  fails(
    'calc/TOTALISE(1d, local/a, 06:00, 1h)',
    15,
    'expected a tag, a number or a calculation for a of TOTALISE, found the duration 1d',
  )
})

describe('an argument of the wrong kind', () => {
  fails(
    'calc/TOTALISE(local/a, local/b, 06:00, 1h)',
    24,
    'expected a window (HOUR, DAY, WEEK, MONTH, QUARTER, YEAR or a duration such as 8h) for window of TOTALISE, found the tag local/b',
  )
  fails(
    'calc/TOTALISE(local/a, FORTNIGHT, 06:00, 1h)',
    24,
    'expected a window (HOUR, DAY, WEEK, MONTH, QUARTER, YEAR or a duration such as 8h) for window of TOTALISE, found FORTNIGHT',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, BEGIN_DECADE, 1h)',
    28,
    'expected an anchor such as BEGIN_DAY, 06:00 or 2024-04-01T00:00:00Z for anchor of TOTALISE, found BEGIN_DECADE',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 1h, 06:00)',
    32,
    'expected a duration such as 1s, 1h or PT15M for rate of TOTALISE, found 06:00',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 06:00, local/b)',
    35,
    'expected a duration such as 1s, 1h or PT15M for rate of TOTALISE, found the tag local/b',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 06:00, NEG(1))',
    35,
    'expected a duration such as 1s, 1h or PT15M for rate of TOTALISE, found the calculation NEG(...)',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 06:00, 1mo)',
    35,
    'expected a rate of fixed length such as 1h or 1d, found 1mo',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 06:00, 0)',
    35,
    'expected a duration such as 1s, 1h or PT15M for rate of TOTALISE, found the number 0',
  )
  fails(
    'calc/TOTALISE(local/a, 1d, 2024-13-01, 1h)',
    28,
    'expected an anchor such as BEGIN_DAY, 06:00 or 2024-04-01T00:00:00Z for anchor of TOTALISE, found 2024-13-01',
  )
  fails('calc/ROUND(local/a, two)', 21, 'expected a number such as 5 or -2 for decimals of ROUND, found two')
  fails(
    'calc/ROUND(local/a, local/b)',
    21,
    'expected a number such as 5 or -2 for decimals of ROUND, found the tag local/b',
  )
  fails(
    'calc/ROUND(local/a, 1d)',
    21,
    'expected a number such as 5 or -2 for decimals of ROUND, found the duration 1d',
  )
  fails('calc/ROUND(local/a, 20%)', 21, 'expected a number such as 5 or -2 for decimals of ROUND, found 20%')
  fails(
    "calc/ROUND(local/a, '2')",
    21,
    "expected a number such as 5 or -2 for decimals of ROUND, found the quoted text '2' (leave the quotes out)",
  )
  fails(
    'calc/ROUND(local/a, NEG(2))',
    21,
    'expected a number such as 5 or -2 for decimals of ROUND, found the calculation NEG(...)',
  )
  fails(
    'calc/ROUND(local/a, 1e999)',
    21,
    'expected a number such as 5 or -2 for decimals of ROUND, found a number that is too large',
  )
  fails(
    'calc/ROUND(2, local/a)',
    15,
    'expected a number such as 5 or -2 for decimals of ROUND, found the tag local/a',
  )
  fails(
    'calc/SLIDINGAGG(local/a, average, 1h)',
    26,
    'expected one of AVG, MIN, MAX, COUNT for op of SLIDINGAGG, found average (did you mean AVG?)',
  )
  fails(
    "calc/SLIDINGAGG(local/a, 'AVG', 1h)",
    26,
    "expected one of AVG, MIN, MAX, COUNT for op of SLIDINGAGG, found the quoted text 'AVG' (leave the quotes out)",
  )
  fails(
    'calc/SLIDINGAGG(local/a, 1h, AVG)',
    26,
    'expected one of AVG, MIN, MAX, COUNT for op of SLIDINGAGG, found the duration 1h',
  )
  fails(
    'calc/SLIDINGAGG(local/a, AVG, DAY)',
    31,
    'expected a duration such as 1s, 1h or PT15M for window of SLIDINGAGG, found DAY',
  )
  fails(
    'calc/TIMESHIFT(local/a, sometimes)',
    25,
    'expected an offset such as -1h, -01:00 or yesterday for offset of TIMESHIFT, found sometimes',
  )
  fails(
    'calc/TIME_THRESHOLD(2024-02-30, 1, 2)',
    21,
    'expected a time such as 2024-04-01T00:00:00Z or yesterday for time of TIME_THRESHOLD, found 2024-02-30',
  )
  fails(
    'calc/TIME_THRESHOLD(local/a, 1, 2)',
    21,
    'expected a time such as 2024-04-01T00:00:00Z or yesterday for time of TIME_THRESHOLD, found the tag local/a',
  )
})

describe('with a default historian', () => {
  fails(
    'calc/ADD(FLOW(m3), 1)',
    10,
    'expected a function, found FLOW (did you mean ADD?); a tag with ( in its name needs quotes',
    WITH_DEFAULT,
  )
  fails('calc/FLOW(1)', 6, 'expected a function, found FLOW (did you mean ADD?)', WITH_DEFAULT)
  fails(
    "calc/ADD('')",
    10,
    "expected a tag name of 1 to 512 characters, none of them a control character, found the quoted text ''",
    WITH_DEFAULT,
  )
  fails(
    'calc/ADD(a\tb)',
    10,
    'expected a tag name of 1 to 512 characters, none of them a control character, found a\tb',
    WITH_DEFAULT,
  )
  fails(
    'calc/TOTALISE(1d, local/a, 06:00, 1h)',
    19,
    'expected a window (HOUR, DAY, WEEK, MONTH, QUARTER, YEAR or a duration such as 8h) for window of TOTALISE, found the tag local/a',
    WITH_DEFAULT,
  )
})

describe('limits', () => {
  test('51 calls inside each other are refused at the 51st', () => {
    const error = failure(`calc/${'NEG('.repeat(51)}1${')'.repeat(51)}`)
    assert.equal(error.place.column, 6 + 4 * 50)
    assert.match(error.message, /: expected at most 50 calls inside each other at column 206 of calc\/NEG/)
  })
  test('an argument that may fail does not hide that', () => {
    const error = failure(`calc/IFTAGEXISTS(${'NEG('.repeat(50)}1${')'.repeat(50)}, 1)`)
    assert.match(error.message, /: expected at most 50 calls inside each other at column 214 of /)
  })
  test('10,001 characters are refused before anything else', () => {
    const error = failure('calc/ADD('.padEnd(10_001, '('))
    assert.match(error.message, /: expected at most 10000 characters, found 10001 at column 10001 of calc/)
  })
  test('a long calculation is cut in the sentence, the column is not', () => {
    const error = failure(`calc/ADD(${'1, '.repeat(1_000)}`)
    assert.equal(error.place.column, 9 + 3_000 + 1)
    assert.equal(error.place.input, `calc/ADD(${'1, '.repeat(1_000)}`.slice(0, 1_000).concat('...'))
  })
  test('a long name in the reason is cut too', () => {
    const error = failure(`calc/ADD(${'x'.repeat(5_000)}(1))`)
    assert.ok(error.message.length < 1_300)
  })
})

test('an address that is no calculation is refused as an address', () => {
  for (const text of ['', 'FLOW', 'calc', '/x', ' calc/ADD(1)', 'my plant/x', 'local/', 'local/a\nb']) {
    const error = failure(text, WITH_DEFAULT)
    assert.equal(error.code, 'INVALID_TAG_ADDRESS')
    assert.equal(error.message, `Invalid tag address ${text}: <historian_name>/<tag_name> is expected`)
  }
})
