import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonHeaders, READ_KEY, testService, WRITE_KEY } from './service.ts'
import { requestText, Wire } from './wire.ts'

const SECRET = READ_KEY

test('the key of a query never reaches a log line, an answer or a metric, whatever becomes of the request', async () => {
  const { app, listen, logLines } = testService()
  const answers: string[] = []
  const urls = [
    `/historian/list?apikey=${SECRET}`,
    `/historian/list?a=b&apikey=${SECRET}&c=d`,
    `/historian/list?%61pikey=${SECRET}`,
    `/historian/list?apikey=${SECRET}x`,
    `/historian/search?apikey=${SECRET}&limit=zero`,
    `/historian/search?apikey=${SECRET}&apikey=${SECRET}`,
    `/historian/search?ApiKey=${SECRET}`,
    `/nope?apikey=${SECRET}`,
    `/historian/multi?apikey=${SECRET}`,
    `/%zz?apikey=${SECRET}`,
    `/historian/list%3Fapikey=${SECRET}`,
    `/historian/list%253Fapikey%3D${SECRET}`,
    `/historian/list;apikey=${SECRET}`,
    `/historian/list&apikey=${SECRET}`,
    `/apikey/${SECRET}`,
    `/docs?apikey=${SECRET}`,
    `/docs/static/index.html?apikey=${SECRET}`,
    `/docs/static/nope?apikey=${SECRET}`,
    `/?apikey=${SECRET}`,
    `/health/ready?apikey=${SECRET}`,
    `/metrics?apikey=${SECRET}`,
  ]
  for (const url of urls) {
    for (const key of [undefined, WRITE_KEY, 'wrong']) {
      const headers = {
        referer: `http://host/page?apikey=${SECRET}`,
        'user-agent': `agent ?apikey=${SECRET}`,
        ...(key !== undefined && { 'x-api-key': key }),
      }
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'] as const) {
        const response = await app.inject({ method, url, headers })
        answers.push(JSON.stringify(response.headers), response.body)
      }
      const broken = await app.inject({
        method: 'POST',
        url,
        headers: { ...jsonHeaders(), ...headers },
        payload: '{',
      })
      answers.push(JSON.stringify(broken.headers), broken.body)
    }
  }
  const port = await listen()
  for (const text of [
    `GET /historian/list?apikey=${SECRET} HTTP/9.9\r\n\r\n`,
    `BREW /historian/list?apikey=${SECRET} HTTP/1.1\r\nhost: x\r\n\r\n`,
    `GET /historian/list?apikey=${SECRET} with space HTTP/1.1\r\nhost: x\r\n\r\n`,
    `X-Api-Key: ${SECRET}\r\n\r\n`,
    requestText('GET', `/${'x'.repeat(70_000)}?apikey=${SECRET}`, { 'x-api-key': SECRET }),
    requestText('GET', `http://host/historian/list?apikey=${SECRET}`, {
      'x-api-key': '',
      connection: 'close',
    }),
    requestText('GET', `http://user:${SECRET}@host/nope?apikey=${SECRET}`, { connection: 'close' }),
  ]) {
    const wire = await Wire.open(port)
    wire.send(text)
    answers.push(await wire.end())
  }
  answers.push((await app.inject({ url: '/metrics' })).body)
  const leak = (text: string) => text.includes(SECRET)
  assert.deepEqual(logLines().filter(leak), [])
  assert.deepEqual(answers.filter(leak), [])
  assert.ok(logLines().length > urls.length)
})

test('a failure inside the service shows nothing of itself to the client, and all of it to the log', async () => {
  const { app, logLines } = testService({
    historians: [
      new Proxy({} as never, {
        get: (_target, name) => {
          if (name === 'name') return 'local'
          if (name === 'close') return async () => {}
          if (name === 'capabilities') return { write: true }
          throw new Error('SELECT secret_column FROM /var/lib/file')
        },
      }),
    ],
  })
  const headers = { ...jsonHeaders(), 'x-request-id': 'find-me' }
  const payload = '{"tags":["local/x"]}'
  const response = await app.inject({ method: 'POST', url: '/historian/metadata/get', headers, payload })
  assert.ok(response.statusCode >= 500)
  assert.doesNotMatch(response.body, /SELECT|secret|\/var|\.ts/)
  const line = logLines().find((text) => text.includes('secret_column'))
  assert.match(line ?? '', /"requestId":"find-me"/)
})

test('an answer that is given is one log line with request id, route, status and key name', async () => {
  const { app, logLines } = testService()
  await app.inject({ url: '/historian/list?x=1', headers: { 'x-api-key': READ_KEY, 'x-request-id': 'id-1' } })
  const lines = logLines().map((line) => JSON.parse(line))
  assert.equal(lines.length, 1)
  const { requestId, method, path, status, key, level, msg } = lines[0]
  assert.deepEqual(
    { requestId, method, path, status, key, level, msg },
    {
      requestId: 'id-1',
      method: 'GET',
      path: '/historian/list',
      status: 200,
      key: 'reader',
      level: 'info',
      msg: 'answered',
    },
  )
})
