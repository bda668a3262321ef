// Specification, section 5 (authentication); interface, section 2 (keys).
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { serve, tidemark } from '../cli/run.ts'
import { until } from '../until.ts'
import { type Answer, conformance, type Json } from './service.ts'

const { get, post, send, multi, service, folder, dataDir } = await conformance(`
historians:
  local:
    type: embedded
  secret:
    type: embedded
`)
const JSON_TYPE = { 'Content-Type': 'application/json' }
const keys = async (...args: string[]) => {
  const done = await tidemark(['keys', ...args, '--data-dir', dataDir], { cwd: folder })
  assert.equal(done.code, 0, done.stderr + done.stdout)
  return done.stdout
}
const make = async (...args: string[]): Promise<string> => {
  const text = await keys('create', ...args)
  return /tdm_[A-Za-z0-9_-]+/.exec(text)![0]
}
const is401 = (answer: Answer) => {
  assert.equal(answer.status, 401)
  assert.deepEqual(Object.keys(answer.body), ['message', 'errors', 'issues'])
  assert.match(answer.body.issues[0].code, /^KEY_(MISSING|INVALID)$/)
  assert.equal(typeof answer.body.message, 'string')
  assert.ok(answer.headers.get('www-authenticate'))
}
const POINT = { 'local/A': [{ timestamp: 1, value: 1 }] }
await post('/historian/write/points', {
  createTags: true,
  points: { ...POINT, 'secret/S': [{ timestamp: 1, value: 2 }] },
})

const ALL = [
  ['GET', '/historian/list'],
  ['GET', '/historian/listwritable'],
  ['GET', '/historian/search'],
  ['POST', '/historian/metadata/create'],
  ['POST', '/historian/metadata/update'],
  ['POST', '/historian/metadata/get'],
  ['POST', '/historian/metadata/delete'],
  ['POST', '/historian/metadata/rename'],
  ['POST', '/historian/write/points'],
  ['POST', '/historian/delete/points'],
  ['POST', '/historian/multi'],
] as const

test('On a first start with no key at all, one write key and one read key are made and told once (docs/deviations.md)', () => {
  assert.match(service.stdout(), /first start, and two API keys were made/)
  assert.match(service.writeKey, /^tdm_[A-Za-z0-9_-]{43,}$/)
  assert.match(service.readKey, /^tdm_[A-Za-z0-9_-]{43,}$/)
})

for (const [method, path] of ALL) {
  test(`Missing or unknown key: 401 with WWW-Authenticate and errors of the endpoint's own shape: ${path}`, async () => {
    const { body: refusal } = await send(method, path, undefined, { key: null, headers: {} })
    if (/metadata\/(create|update|get)/.test(path)) assert.deepEqual(refusal.errors, { '*': refusal.message })
    else assert.deepEqual(refusal.errors, path === '/historian/multi' ? {} : [refusal.message])
    const body = method === 'POST' ? '{}' : undefined
    const headers = method === 'POST' ? JSON_TYPE : {}
    const near = service.writeKey.slice(0, -1) + (service.writeKey.endsWith('A') ? 'B' : 'A')
    for (const key of [null, '', 'nonsense', near, `${service.writeKey}x`, 'tdm_']) {
      is401(await send(method, path, body, { key, headers }))
    }
    is401(await send(method, `${path}?apikey=`, body, { key: null, headers }))
    is401(await send(method, `${path}?apikey=${near}`, body, { key: null, headers }))
  })
}

test('a 401 of multi has an empty errors', async () => {
  const answer = await multi({ requests: {} }, { key: null })
  assert.equal(answer.status, 401)
  assert.equal(Object.keys(answer.body.errors).length, 0)
})

test('The key is passed either as the query parameter apikey or as the header X-Api-Key', async () => {
  for (const key of [service.writeKey, service.readKey]) {
    assert.equal((await get('/historian/list', { key })).status, 200)
    assert.equal((await get(`/historian/list?apikey=${key}`, { key: null })).status, 200)
    assert.equal((await get(`/historian/list/?apikey=${key}`, { key: null })).status, 200)
  }
})

test('The header wins when both header and query parameter are sent', async () => {
  assert.equal((await get('/historian/list?apikey=wrong')).status, 200)
  is401(await get(`/historian/list?apikey=${service.writeKey}`, { key: 'wrong' }))
  const answer = await send('POST', `/historian/write/points?apikey=${service.writeKey}`, '{"points":{}}', {
    key: service.readKey,
    headers: JSON_TYPE,
  })
  assert.equal(answer.status, 403)
})

test('A read-only key on an endpoint that changes something: 403; metadata/get only reads', async () => {
  for (const [method, path] of ALL) {
    const reads = /list|search|metadata\/get|multi/.test(path)
    const answer = await send(method, path, method === 'POST' ? '{}' : undefined, {
      key: service.readKey,
      headers: method === 'POST' ? JSON_TYPE : {},
    })
    if (reads) assert.notEqual(answer.status, 403, path)
    else {
      assert.equal(answer.status, 403, path)
      assert.equal(typeof answer.body.message, 'string')
      assert.equal(Array.isArray(answer.body.errors), !/metadata\/(create|update)/.test(path), path)
    }
  }
  const dry = await post('/historian/delete/points', { dryRun: true, ranges: {} }, { key: service.readKey })
  assert.equal(dry.status, 403)
})

test('An expired key: 401', async () => {
  // Where making a key and asking with it take longer than it is valid, one that is valid for longer is tried.
  for (let seconds = 2; ; seconds *= 2) {
    const name = `valid for ${seconds} s`
    const options = ['--name', name, '--scope', 'read', '--expires', `${seconds}s`, '--json']
    const { key, expiresAt } = JSON.parse(await keys('create', ...options))
    const ends = Date.parse(expiresAt)
    const isTaken = async () => {
      const asked = Date.now()
      const answer = await get('/historian/list', { key })
      if (answer.status === 200) assert.ok(asked < ends, 'taken after its end')
      else {
        is401(answer)
        assert.ok(Date.now() >= ends, 'refused before its end')
      }
      return answer.status === 200
    }
    const wasTaken = await isTaken()
    await until(async () => !(await isTaken()), 'the key ends')
    if (wasTaken) return
  }
})

test('Keys are managed without restarting the service; a revoked key stops working within a second', async () => {
  const key = await make('--name', 'passing', '--scope', 'write')
  assert.equal((await post('/historian/write/points', { points: POINT }, { key })).status, 200)
  await keys('revoke', 'passing')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  is401(await get('/historian/list', { key }))
  is401(await post('/historian/write/points', { points: POINT }, { key }))
})

const limited = await make('--name', 'limited', '--scope', 'write', '--historians', 'local')

test('A historian that a key may not see does not exist for it: lists', async () => {
  for (const path of ['/historian/list', '/historian/listwritable']) {
    assert.deepEqual((await get(path, { key: limited })).body, { historians: [{ name: 'local' }] })
  }
})

test('A historian that a key may not see does not exist for it: search', async () => {
  const found = await get('/historian/search', { key: limited })
  assert.deepEqual(
    found.body.tags.map((tag: Json) => tag.qualifiedTagName),
    ['local/A'],
  )
  const hidden = await get('/historian/search?historian=secret', { key: limited })
  const unknown = await get('/historian/search?historian=nowhere', { key: limited })
  assert.equal(hidden.status, 404)
  assert.equal(hidden.body.message.replaceAll('secret', '#'), unknown.body.message.replaceAll('nowhere', '#'))
})

test('A historian that a key may not see does not exist for it: the same wording everywhere', async () => {
  const sentence = 'Historian secret for tag S does not exist'
  const options = { key: limited }
  const write = await post(
    '/historian/write/points',
    { points: { 'secret/S': [{ timestamp: 1, value: 1 }] } },
    options,
  )
  assert.equal(write.status, 400)
  assert.deepEqual(write.body.errors, [sentence])
  for (const [path, body] of [
    ['metadata/create', { entries: { 'secret/S': {} } }],
    ['metadata/update', { entries: { 'secret/S': {} } }],
    ['metadata/get', { tags: ['secret/S'] }],
  ] as const) {
    const answer = await post(`/historian/${path}`, body, options)
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body.errors, { 'secret/S': sentence }, path)
  }
  for (const [path, body] of [
    ['delete/points', { ranges: { 'secret/S': [{ from: 0, to: 5 }] } }],
    ['metadata/delete', { tags: ['secret/S'] }],
    ['metadata/rename', { renames: { 'secret/S': 'secret/T' } }],
  ] as const) {
    const answer = await post(`/historian/${path}`, body, options)
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, [sentence], path)
  }
  const read = await multi(
    {
      requests: {
        plain: { type: 'CURRENT_POINT', tag: 'secret/S' },
        inside: { type: 'CURRENT_POINT', tag: 'calc/ADD(local/A, secret/S)' },
      },
    },
    options,
  )
  assert.deepEqual(read.body.errors, { plain: sentence, inside: sentence })
  const explain = await multi(
    { explain: true, requests: { a: { type: 'CURRENT_POINT', tag: 'secret/S' } } },
    options,
  )
  assert.doesNotMatch(JSON.stringify(explain.body.explain.requests), /embedded/)
  assert.equal(explain.body.errors.a, sentence)
})

test('what the key may see is checked anew for a cursor', async () => {
  await post('/historian/write/points', {
    points: {
      'secret/S': [
        { timestamp: 2, value: 1 },
        { timestamp: 3, value: 1 },
      ],
    },
  })
  const details = { from: 0, to: 10, maxPoints: 1 }
  const first = await multi({ requests: { a: { type: 'RAW_POINTS', tag: 'secret/S', details } } })
  const next = first.body.next.a
  assert.equal(typeof next, 'string')
  const again = await multi(
    { requests: { a: { type: 'RAW_POINTS', tag: 'secret/S', details: { ...details, cursor: next } } } },
    { key: limited },
  )
  assert.deepEqual(again.body.errors, { a: 'Historian secret for tag S does not exist' })
})

test('/health/ready names historians only to a valid key, and only those that the key may see', async () => {
  assert.doesNotMatch((await get('/health/ready', { key: null })).text, /local|secret/)
  assert.doesNotMatch((await get('/health/ready', { key: 'wrong' })).text, /local|secret/)
  assert.match((await get('/health/ready')).text, /"secret"/)
  assert.match((await get('/health/ready', { key: limited })).text, /"local"/)
  assert.doesNotMatch((await get('/health/ready', { key: limited })).text, /secret/)
})

test('The apikey query parameter never reaches a log, an error message or a metric', async () => {
  const stranger = 'tdm_strangerstrangerstrangerstrangerstranger000'
  const parts = []
  for (const path of [
    '/historian/list',
    '/historian/none',
    '/historian/search',
    '/historian/multi',
    '/metrics',
    '/health/ready',
    '/x',
  ]) {
    for (const key of [stranger, service.writeKey]) {
      for (const query of [`apikey=${key}`, `APIKEY=${key}`, `a=1&apikey=${key}`, `%61pikey=${key}`]) {
        parts.push((await get(`${path}?${query}`, { key: null })).text)
      }
    }
  }
  parts.push((await get('/metrics')).text, service.stderr())
  const all = parts.join('\n')
  assert.doesNotMatch(all, /strangerstranger/)
  assert.ok(!all.includes(service.writeKey))
})

test('stored as a SHA-256 digest: no key text stands anywhere in the data directory', async () => {
  for (const file of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const content = await readFile(join(file.parentPath, file.name), 'latin1')
    assert.ok(!content.includes(service.writeKey.slice(4, 40)), file.name)
    assert.ok(!content.includes(limited.slice(4, 40)), file.name)
  }
  assert.doesNotMatch(await keys('list'), new RegExp(service.writeKey.slice(4, 40)))
})

test('keys create --json gives name, scope, historians and expiry', async () => {
  const made = JSON.parse(
    await keys(
      'create',
      '--name',
      'j',
      '--scope',
      'read',
      '--historians',
      'local,secret',
      '--expires',
      '2099-01-01',
      '--json',
    ),
  )
  assert.match(JSON.stringify(made), /tdm_/)
  assert.match(JSON.stringify(made), /"scope":"read"/)
  assert.match(JSON.stringify(made), /2099-01-01/)
  assert.match(JSON.stringify(made), /\["local","secret"\]/)
})

test('Revoking the last key never makes new first-start keys, not at the next start either', async () => {
  const usable = JSON.parse(await keys('list', '--json'))
  const revoke = (name: string) => tidemark(['keys', 'revoke', name, '--data-dir', dataDir], { cwd: folder })
  // all at once: no revocation may undo another
  await Promise.all(usable.map(({ name }: Json) => revoke(name)))
  await new Promise((resolve) => setTimeout(resolve, 1000))
  is401(await get('/historian/list'))
  is401(await get('/historian/list', { key: service.readKey }))
  is401(await get('/historian/list', { key: limited }))
  assert.equal(await service.stop(), 0)
  const again = await serve(['--data-dir', dataDir], { cwd: folder })
  assert.doesNotMatch(again.stdout(), /tdm_|first start/)
  assert.equal(again.writeKey, '')
  await again.stop()
})
