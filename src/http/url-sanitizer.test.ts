import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import test from 'node:test'
import { queryKeyOf, sanitizeUrl, shownPath } from './url-sanitizer.ts'

function knock(url: string) {
  const request = { url } as IncomingMessage & { originalUrl?: string }
  const routed = sanitizeUrl(request)
  return { routed, key: queryKeyOf(request), request }
}

const cases: readonly [title: string, url: string, routed: string, key: string | null][] = [
  [
    'a URL without a key stays',
    '/historian/search?search=a&search=b',
    '/historian/search?search=a&search=b',
    null,
  ],
  ['the key goes, the rest stays', '/a?x=1&apikey=S&y=2', '/a?x=1&y=2', 'S'],
  ['a key alone leaves no question mark', '/a?apikey=S', '/a', 'S'],
  ['an escaped key is decoded', '/a?apikey=%53+x', '/a', 'S x'],
  ['an escaped name is found too', '/a?%61pikey=S', '/a', 'S'],
  ['another spelling goes, and is no key', '/a?APIKEY=S&apiKey=T', '/a', null],
  ['several keys are none that could be known', '/a?apikey=S&apikey=T', '/a', 'S,T'],
  ['a key that cannot be decoded goes as it is', '/a?apikey=%zz', '/a', '%zz'],
  ['a fragment counts as a query', '/a#apikey=S', '/a', 'S'],
  ['a whole URL is routed by its path', 'http://host:80/a?apikey=S', '/a', 'S'],
  ['a host alone is the root', 'http://host', '/', null],
  ['an asterisk is an unknown path', '*', '/*', null],
  ['a path that cannot be decoded becomes one that can', '/a%zz?apikey=S', '/a%25zz', 'S'],
  ['a broken sequence of bytes likewise', '/%c3%28', '/%25c3%2528', null],
]

for (const [title, url, routed, key] of cases) {
  test(`before routing, ${title}`, () => {
    const result = knock(url)
    assert.equal(result.routed, routed)
    assert.equal(result.key, key)
  })
}

test('no field of the request keeps the key', () => {
  const { request } = knock('/a?apikey=SECRET')
  assert.doesNotMatch(JSON.stringify(request), /SECRET/)
})

for (const [url, shown] of [
  ['/historian/lits', '/historian/lits'],
  ['/historian/list%3Fapikey=SECRET', '/historian/list...'],
  ['/historian/list;apikey=SECRET', '/historian/list...'],
  ['/historian/list&apikey=SECRET', '/historian/list...'],
  ['/apikey/SECRET', '/...'],
  ['/X-Api-Key/SECRET', '/X-...'],
  [`/a/${'k'.repeat(43)}/b`, '/a...'],
  [`/${'a/'.repeat(300)}`, `/${'a/'.repeat(300)}`.slice(0, 200)],
] as const) {
  test(`of the unknown path ${url.slice(0, 40)} only the harmless part is shown`, () => {
    assert.equal(shownPath(url), shown)
  })
}
