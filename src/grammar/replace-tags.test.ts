import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from './parser.ts'
import { printTag } from './print.ts'
import { replaceTags } from './replace-tags.ts'
import { OPTIONS, WITH_DEFAULT } from './signatures.fixture.ts'
import { withTags } from './visit.ts'

const NEW = new Map([
  ['local/FLOW', 'local/NEW'],
  ['local/a b', "local/it's"],
  ['local/LONG (m3/h)', 'local/L'],
])

function replaced(source: string, options = OPTIONS): string {
  const tree = parseTag(source, options)
  const rename = (historian: string, name: string) => NEW.get(`${historian}/${name}`)
  const found = replaceTags(source, tree, ({ historian, name }) => rename(historian, name))
  // The tree of what comes out is that of what went in with the other tags.
  const expected = withTags(tree, ({ historian, name }) => {
    const to = rename(historian, name)
    return to === undefined ? undefined : { name: to.slice('local/'.length) }
  })
  assert.equal(printTag(parseTag(found, options)), printTag(expected))
  return found
}

test('tags get other addresses, and all else stays as it was written', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['local/FLOW', 'local/NEW'],
    ['local/OTHER', 'local/OTHER'],
    ['calc/add( local/FLOW ,2,  neg(local/FLOW))', 'calc/add( local/NEW ,2,  neg(local/NEW))'],
    ["calc/ADD('local/FLOW', local/FLOWS)", 'calc/ADD(local/NEW, local/FLOWS)'],
    ['calc/NEG( local/a b )', String.raw`calc/NEG( 'local/it\'s' )`],
    ['calc/SUB(local/LONG (m3/h), calc/NEG("local/LONG (m3/h)"))', 'calc/SUB(local/L, calc/NEG(local/L))'],
    ['calc/ADD(plant/FLOW, local/x)', 'calc/ADD(plant/FLOW, local/x)'],
  ]
  for (const [source, expected] of cases) assert.equal(replaced(source), expected)
})

test('a bare name gets its historian', () => {
  const historian = WITH_DEFAULT.defaultHistorian
  const tree = parseTag('calc/NEG(FLOW)', WITH_DEFAULT)
  const found = replaceTags('calc/NEG(FLOW)', tree, (tag) => {
    assert.equal(tag.historian, historian)
    return `${historian}/NEW`
  })
  assert.equal(found, `calc/NEG(${historian}/NEW)`)
})
