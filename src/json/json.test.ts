import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { buildValue } from './build.ts'
import { fieldNames } from './field-names.ts'
import { MOST_AT_ONCE_BYTES, parseJson, readJson } from './parse.ts'
import { type JsonRules, MOST_FIELDS, MOST_LEVELS, NO_RULES } from './rules.ts'
import { JsonScanner } from './scan.ts'

/**
 * What a text is when it is scanned in steps of `scanBytes` and cut into chunks of `chunkBytes`; the code where it is
 * refused.
 */
function inChunks(text: string, chunkBytes: number, scanBytes = 7, rules: JsonRules = NO_RULES): unknown {
  const bytes = Buffer.from(text)
  try {
    const scanner = new JsonScanner(bytes, 0, rules, chunkBytes)
    while (!scanner.scan(scanBytes));
    const steps = buildValue({ bytes, cuts: scanner.cuts })
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
    }
  } catch (error) {
    assert.ok(error instanceof TidemarkError, String((error as Error).stack))
    return error.code
  }
}

function atOnce(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'INVALID_JSON'
  }
}

/** Texts with blanks where JSON allows them. */
const anyJson = fc
  .tuple(
    fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())),
    fc.nat(2),
  )
  .map(([value, blanks]) => JSON.stringify(value, null, blanks))

test('a text in chunks is what it is at once, whatever the size of the chunks', () => {
  fc.assert(
    fc.property(
      anyJson,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (text, chunk, scan) => {
        const value = inChunks(text, chunk, scan)
        assert.deepEqual(value, atOnce(text))
        // Also in the order of its fields.
        assert.equal(JSON.stringify(value), JSON.stringify(atOnce(text)))
        checkNames(value)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('what is no JSON is none in chunks, and nothing else is refused', () => {
  const change = fc.record({
    at: fc.nat(),
    drop: fc.nat(2),
    insert: fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '1', '\\', ' '),
  })
  fc.assert(
    fc.property(anyJson, change, fc.integer({ min: 1, max: 30 }), (text, { at, drop, insert }, chunk) => {
      const place = at % text.length
      // Half a surrogate pair is no character.
      const broken = Buffer.from(text.slice(0, place) + insert + text.slice(place + drop)).toString()
      if (!/^\s*[[{]/.test(broken)) return
      assert.deepEqual(inChunks(broken, chunk), atOnce(broken), broken)
    }),
    { numRuns: 5_000 },
  )
})

for (const text of [
  '[]',
  '{}',
  ' [ ] ',
  '[1,2,3]',
  '[[],[],[]]',
  '[[1],{"a":[2,{"b":3}]},4]',
  '{"__proto__":{"a":[1,2]},"constructor":[3]}',
  '{"a":1,"a":2,"b":[1,2,3],"a":[3]}',
  '{"2":[1,1],"1":[2,2],"b":0,"0":[3]}',
  '["\\\\","\\"","]",[",","}"]]',
  '{"a\\u0062":[1,2],"":[[],[]]}',
]) {
  test(`${text} is the same in chunks of one byte`, () => {
    assert.equal(JSON.stringify(inChunks(text, 1, 1)), JSON.stringify(JSON.parse(text)))
    assert.equal(Object.getPrototypeOf(inChunks(text, 1)), Object.getPrototypeOf(JSON.parse(text)))
  })
}

for (const text of [
  '[',
  ']',
  '[}',
  '{]',
  '[1,2,]',
  '[[1,2],]',
  '[,1]',
  '[1,,2]',
  '[[1,2][3,4]]',
  '[[1,2] 3,4]',
  '{"a":1,}',
  '{"a":[1,2],}',
  '{"a":[1,2]"b":3}',
  '{"a":[1,2] 5,"b":3}',
  '{"a"[1,2]}',
  '{:[1,2]}',
  '{"a":1 "b":[1,2]}',
  '{[1,2]}',
  '{"a":"b":[1,2],"c":1}',
  '[1] 2',
  '[1],[2]',
  '[1][2]',
  '[1]]',
  '["a',
  '["a\\',
  '["a\\"',
  '[1,2',
  '{"a":[1,2}',
  '[1,{"a":2]]',
  '[\u00a01]',
  '[1,\f2]',
  '[01,[1,2]]',
]) {
  test(`${text} is no JSON in chunks of one byte`, () => assert.equal(inChunks(text, 1, 1), 'INVALID_JSON'))
}

/** Throws when the remembered names of an object, or of one inside of it, are not its own. */
function checkNames(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) assert.deepEqual(fieldNames(value), Object.keys(value))
  for (const member of Object.values(value)) checkNames(member)
}

test('names of fields are those of the object, in its order, also where they come twice or are numbers', () => {
  for (const text of [
    '{"b":[1,1],"a":2,"c":{"z":1,"y":[2]},"a":[3]}',
    '{"b":[1,1],"10":[2],"9":[3],"a":1}',
    '{"__proto__":[1],"constructor":[2],"":[3],"01":[4],"-1":[5]}',
    '{"\u0061":[1],"a":[2]}',
    '{"0":[1],"7":[2],"07":[3],"8":[4],"4294967294":[5],"4294967295":[6]}',
    '{"0":[1],"4294967295":[2],"4294967294":[3]}',
    '{"3":[1],"x":[2],"7":[3]}',
    '{"3":[1],"3":[2],"4":[3]}',
    '{"10":[1],"9":[2]}',
  ]) {
    checkNames(inChunks(text, 1, 1))
  }
})

const counted = {
  field: 'requests',
  most: 100,
  refuse: () => new TidemarkError('LIMIT_LABELS', { limit: 100 }),
}

function fields(count: number): string {
  return Array.from({ length: count }, (_, i) => `"${i}":[0]`).join()
}

test('members of the counted field are counted while they are scanned, in objects and arrays', () => {
  const rules = { counted }
  const isRefused = (text: string) => inChunks(text, 50, 64, rules) === 'LIMIT_LABELS'
  assert.ok(!isRefused(`{"now":[1,2],"requests":{${fields(100)}}}`))
  assert.ok(isRefused(`{"now":[1,2],"requests":{${fields(101)}}}`))
  assert.ok(isRefused(`{"\\u0072equests" : {${fields(101)}}}`))
  assert.ok(isRefused(`{"requests":[${'1,'.repeat(100)}1]}`))
  assert.ok(!isRefused(`{"requests":[${'1,'.repeat(99)}1]}`))
  assert.ok(!isRefused(`{"other":{${fields(101)}}}`))
  assert.ok(!isRefused(`{"requests":{"a":{${fields(101)}}}}`))
  assert.ok(!isRefused(`[{"requests":{${fields(101)}}}]`))
  // The rest of the text is not looked at any more.
  assert.ok(isRefused(`{"requests":{${fields(5_000)}`))
})

test('objects and arrays without a comma between them end it, each looked at once', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  for (const [open, close] of ['[]', '{}', '[}']) {
    const text = `{"x":${`${open}${close}`.repeat(20_000)}}`
    assert.equal(inChunks(text, 50, 64, { counted }), 'INVALID_JSON')
  }
  assert.ok(parse.mock.callCount() < 100, `${parse.mock.callCount()} names were read`)
})

test('levels, fields of one object and long texts have limits', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  assert.notEqual(inChunks(nested(MOST_LEVELS), 100), 'LIMIT_JSON')
  assert.equal(inChunks(nested(MOST_LEVELS + 1), 100), 'LIMIT_JSON')
  assert.notEqual(inChunks(`[{${fields(MOST_FIELDS)}}]`, 1_000, 10_000), 'LIMIT_JSON')
  assert.equal(inChunks(`[{${fields(MOST_FIELDS + 1)}}]`, 1_000, 10_000), 'LIMIT_JSON')
  assert.notEqual(inChunks(`["${'x'.repeat(1_000_000)}"]`, 1_000, 10_000), 'LIMIT_JSON')
  for (const run of [`"${'x'.repeat(1_100_000)}"`, '1'.repeat(1_100_000), ' '.repeat(1_100_000)]) {
    assert.equal(inChunks(`[${run}]`, 1_000, 10_000), 'LIMIT_JSON')
  }
})

test('a long body yields whenever it is due, and holds before anything is made', async () => {
  const text = `{"requests":{${fields(50_000)}}}`
  assert.ok(text.length > MOST_AT_ONCE_BYTES)
  let count = 0
  let held = 0
  const yields = {
    isDue: true,
    yield: async () => {
      count++
    },
  }
  const refused = await readJson(Buffer.from(`\ufeff ${text}`), NO_RULES, yields, (values) => {
    held = values
  }).catch((error) => error)
  assert.equal((refused as TidemarkError).code, 'LIMIT_JSON')
  const rules = { counted: { ...counted, most: 50_000 } }
  const read = await readJson(Buffer.from(`\ufeff ${text}`), rules, yields, (values) => {
    held = values
  })
  assert.deepEqual(read, parseJson(Buffer.from(text)))
  assert.ok(count > text.length / 131_072)
  assert.equal(held, 50_000 + 2 + 49_999)
  await assert.rejects(
    readJson(Buffer.from(text), rules, { isDue: true, yield: () => Promise.reject(new Error('gone')) }),
    /gone/,
  )
})

test('a long body that is no object or array, or no UTF-8, is refused like a short one', async () => {
  const yields = { isDue: false, yield: async () => {} }
  const long = MOST_AT_ONCE_BYTES + 10
  assert.equal(await readJson(Buffer.from(`"${'x'.repeat(long)}"`), NO_RULES, yields), 'x'.repeat(long))
  for (const bytes of [Buffer.alloc(long, 0xff), Buffer.alloc(long, ' '), Buffer.alloc(long, 'x')]) {
    await assert.rejects(readJson(bytes, NO_RULES, yields), { code: 'INVALID_JSON' })
  }
})

test('a long body of more values than there is memory for is refused before they are made', async () => {
  const yields = { isDue: false, yield: async () => {} }
  const hold = () => assert.fail('nothing is held')
  const many = Buffer.from(`[${'[],'.repeat(500_000)}[]]`)
  await assert.rejects(readJson(many, NO_RULES, yields, hold), { code: 'LIMIT_JSON' })
  const fewer = Buffer.from(`[${'[],'.repeat(499_000)}[]]`)
  assert.equal(((await readJson(fewer, NO_RULES, yields)) as unknown[]).length, 499_001)
})

test('a short body that is no JSON is said to be so once, with what is wrong', () => {
  const sentenceOf = (text: string) => {
    try {
      return parseJson(Buffer.from(text))
    } catch (error) {
      return (error as Error).message
    }
  }
  const begin = 'The body is not valid JSON: '
  assert.equal(sentenceOf('{"value":NaN}'), `${begin}Unexpected token 'N', "{"value":NaN}"`)
  assert.equal(
    sentenceOf('{"value":1'),
    `${begin}Expected ',' or '}' after property value in JSON at position 10 (line 1 column 11)`,
  )
})
